"""Checks of the options that linear leaves cannot be combined with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arboleda._engine.table import SparseTable, Table

if TYPE_CHECKING:
    from arboleda.boosting._hist_gradient_boosting import HistGradientBoosting
    from arboleda.boosting._losses import Loss

_WITHOUT_CURVATURE = {"absolute_error", "huber", "quantile"}


def check_options(model: HistGradientBoosting, loss: Loss, *, monotonic: bool) -> None:
    """Raise an error for parameters that ``linear_leaves=True`` does not support.

    Raises
    ------
    ValueError
        If a parameter is not supported; the message names its value and a remedy.
    """
    if loss.name in _WITHOUT_CURVATURE:
        raise ValueError(
            "linear_leaves=True needs a loss with second derivatives, which "
            f"loss={loss.name!r} does not have: set linear_leaves=False, or another loss"
        )
    if monotonic:
        raise ValueError(
            "linear_leaves=True does not support monotonic_cst, since the slopes of leaves are "
            "unconstrained: set linear_leaves=False, or monotonic_cst=None"
        )
    for name, why in (
        ("drop_rate", "drops and rescales trees, which is exact for constant leaves only"),
        ("l1_regularization", "penalizes constant leaves only"),
        ("max_delta_step", "limits constant leaves only"),
    ):
        value = getattr(model, name)
        if value > 0.0:
            raise ValueError(
                f"linear_leaves=True does not support {name}={value}, which {why}: set {name}=0.0, "
                "or linear_leaves=False"
            )


def check_dense(table: Table | SparseTable) -> None:
    """Raise an error if the training table is sparse.

    Raises
    ------
    ValueError
        If the table is sparse.
    """
    if isinstance(table, SparseTable):
        raise ValueError(  # noqa: TRY004 - a sparse table is invalid with this parameter only
            "linear_leaves=True does not support a sparse X in fit: pass X.toarray(), or set "
            "linear_leaves=False. The fitted model can predict sparse tables"
        )
