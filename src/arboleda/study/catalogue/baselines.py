"""What any model must beat: an answer that ignores all columns."""

from sklearn.dummy import DummyClassifier, DummyRegressor

from arboleda.study.catalogue.costs import each_row_cost
from arboleda.study.catalogue.model import Model, no_parameters

__all__ = ["BASELINES"]

BASELINES: tuple[Model, ...] = (
    Model(
        key="most_frequent",
        name="Most frequent class",
        task="classification",
        make=lambda s, p: DummyClassifier(strategy="prior"),
        grid=no_parameters,
        style="none",
        cost=each_row_cost(1e-9),
    ),
    Model(
        key="mean",
        name="Mean value",
        task="regression",
        make=lambda s, p: DummyRegressor(strategy="mean"),
        grid=no_parameters,
        style="none",
        cost=each_row_cost(1e-9),
    ),
)
