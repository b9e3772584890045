"""What linear leaves cannot be combined with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arboleda._engine.table import SparseTable, Table

if TYPE_CHECKING:
    from arboleda.boosting._hist_gradient_boosting import HistGradientBoosting
    from arboleda.boosting._losses import Loss

_WITHOUT_CURVATURE = {"absolute_error", "huber", "quantile"}


def check_options(model: HistGradientBoosting, loss: Loss, *, monotonic: bool) -> None:
    """Refuse what would have no meaning beside ``linear_leaves=True``.

    Raises
    ------
    ValueError
        Which names the parameter, its value and a remedy.
    """
    if loss.name in _WITHOUT_CURVATURE:
        raise ValueError(
            f"linear_leaves=True needs a loss with second derivatives, which loss={loss.name!r} "
            "has not: set linear_leaves=False, or another loss"
        )
    if monotonic:
        raise ValueError(
            "linear_leaves=True cannot keep monotonic_cst, since the slopes of a leaf are free: "
            "set linear_leaves=False, or monotonic_cst=None"
        )
    for name, why in (
        ("drop_rate", "leaves trees out and scales them, which is exact for constant leaves only"),
        ("l1_regularization", "is a price of constant leaves"),
        ("max_delta_step", "is a limit of constant leaves"),
    ):
        value = getattr(model, name)
        if value > 0.0:
            raise ValueError(
                f"linear_leaves=True does not go together with {name}={value}, which {why}: set "
                f"{name}=0.0, or linear_leaves=False"
            )


def check_dense(table: Table | SparseTable) -> None:
    """Refuse a sparse table to learn from.

    Raises
    ------
    ValueError
        If the table is sparse.
    """
    if isinstance(table, SparseTable):
        raise ValueError(  # noqa: TRY004 - it is a table, if not for this parameter
            "linear_leaves=True reads the values of columns, and X is sparse: give X.toarray() to "
            "fit, or set linear_leaves=False. The fitted model predicts sparse tables too"
        )
