"""Sampling of rows and dropout of trees: checks and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting


def check_sampling(model: Boosting) -> None:
    """Raise an error for sampling parameters that cannot be combined.

    Raises
    ------
    ValueError
        If ``sampling="goss"`` is combined with ``subsample`` or with shares that exceed 1.
    """
    if model.sampling != "goss":
        return
    if model.subsample < 1.0:
        raise ValueError(
            f"subsample={model.subsample} cannot be combined with sampling='goss', which draws "
            "the shares top_rate and other_rate of the rows: set subsample=1.0"
        )
    if model.top_rate + model.other_rate > 1.0:
        raise ValueError(
            "the sum of top_rate and other_rate must not exceed 1, got "
            f"top_rate={model.top_rate} and other_rate={model.other_rate}"
        )


def make_sampling_options(model: Boosting) -> dict[str, Any]:
    """Return the engine's options for sampling rows and dropping trees."""
    return {
        "sampling": model.sampling,
        "row_share": model.subsample,
        "top_share": model.top_rate,
        "other_share": model.other_rate,
        "drop_rate": model.drop_rate,
        "skip_drop": model.skip_drop,
        "max_drop": model.max_drop,
    }
