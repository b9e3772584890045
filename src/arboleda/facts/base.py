"""What all typed facts are made from."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Count", "FactsModel", "HistogramFacts", "Positive"]

Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class FactsModel(BaseModel):
    """The base of all facts: immutable, of exact types, with known keys and finite numbers."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )


class HistogramFacts(FactsModel):
    """Counts by interval: ``counts[i]`` values are in [edges[i], edges[i+1]), the last closed."""

    edges: list[float]
    counts: list[Count]
