"""Initial models, and checks of options that cannot be combined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from arboleda._engine.column_options import read_feature_weights
from arboleda._engine.forced_splits import read_forced_splits
from arboleda._engine.table import DenseTable, SparseTable
from arboleda._utils.errors import ModelFormatError
from arboleda.boosting._losses import Loss
from arboleda.boosting._rows import TrainingRows

if TYPE_CHECKING:
    from arboleda.boosting._automatic_boosting import AutomaticBoosting
    from arboleda.boosting._boosting import Boosting
    from arboleda.boosting._hist_gradient_boosting import HistGradientBoosting
    from arboleda.persist.fields import Sections

Floats = npt.NDArray[np.float64]


def fit_init(init: Any, rows: TrainingRows, *, classify: bool) -> Any:
    """Return a clone of an estimator, fitted to the training rows, with classes as 0, 1, ...

    Raises
    ------
    ValueError
        If sample weights are given and the estimator does not support them.
    """
    X = _safe_indexing(rows.X, rows.numbers)
    y = rows.targets.astype(np.intp) if classify else rows.targets
    model = clone(init)
    if rows.weights is None:
        return model.fit(X, y)
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"The initial estimator {type(model).__name__} does not support sample weights: choose "
            "another init, or fit without sample_weight"
        )
    return model.fit(X, y, sample_weight=rows.weights)


def compute_initial_scores(model: Any, X: Any, n_rows: int, loss: Loss) -> Floats:
    """Return the raw scores of the initial model: "zero", or a fitted estimator.

    Raises
    ------
    ValueError
        If a prediction has no raw score, such as one that is not positive where scores are
        logarithms.
    """
    if isinstance(model, str):  # "zero"
        return np.zeros((n_rows, loss.n_outputs))
    scores = loss.scores(model.predict_proba(X) if is_classifier(model) else model.predict(X))
    bad = ~np.isfinite(scores)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        raise ValueError(
            f"the prediction of init for row {row} has no raw score with loss={loss.name!r}: "
            "predictions of init must be positive and finite"
        )
    return np.ascontiguousarray(scores)


class InitField:
    """Field of model files for the initial model: null or "zero"; estimators cannot be saved."""

    def encode(self, name: str, value: Any, sections: Sections) -> str | None:
        """Return the stored value."""
        if value is None or isinstance(value, str):
            return value
        raise TypeError(
            f"it is a {type(value).__name__}, and a model file cannot hold other estimators; "
            "pickle the model, or fit with init=None"
        )

    def decode(self, name: str, stored: Any, sections: Sections) -> str | None:
        """Check and return the initial model."""
        if stored is None or stored == "zero":
            return "zero" if stored else None
        raise ModelFormatError(f"{name} is neither null nor 'zero'")


def check_sampling(model: Boosting) -> None:
    """Raise an error for sampling parameters that cannot be combined.

    Raises
    ------
    ValueError
        If ``sampling`` is "goss" or "auto" and ``subsample`` is below 1, or if the shares for
        "goss" exceed 1.
    """
    if model.sampling in {"goss", "auto"} and model.subsample < 1.0:
        shares = (
            "the shares top_rate and other_rate of the rows"
            if model.sampling == "goss"
            else "a share of the rows that it chooses itself"
        )
        raise ValueError(
            f"subsample={model.subsample} cannot be combined with sampling='{model.sampling}', "
            f"which draws {shares}: set subsample=1.0"
        )
    if model.sampling == "goss" and model.top_rate + model.other_rate > 1.0:
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


def make_feature_weights(model: HistGradientBoosting) -> list[float]:
    """Return the weights with which columns are drawn, one for each encoded column.

    Returns
    -------
    weights : list of float
        Empty if all columns have the same weight.

    Raises
    ------
    ValueError
        If no columns are drawn, or the weights are invalid.
    """
    weights = read_feature_weights(model.feature_weights, model.schema_)
    if weights and min(model.max_features, model.colsample_bytree, model.colsample_bylevel) >= 1.0:
        raise ValueError(
            "feature_weights has no effect with max_features=1.0, colsample_bytree=1.0 and "
            "colsample_bylevel=1.0, since no columns are drawn: set one of them below 1, for "
            "example max_features=0.5"
        )
    owners = model.statistics_.owners(len(weights)) if weights else ()
    return [weights[owner] for owner in owners]


def make_forced_splits(model: HistGradientBoosting) -> list[tuple[int, float, int, int]]:
    """Return the splits that trees begin with; the first is that of the root.

    Returns
    -------
    splits : list of tuples
        Column, threshold, and the positions of the splits of the left and the right side, or -1.

    Raises
    ------
    ValueError
        If the splits are invalid, more than a tree may have, or not supported with a parameter.
    """
    splits, depth = read_forced_splits(model.forced_splits, model.schema_)
    if not splits:
        return []
    remedy = "or leave out forced_splits"
    if model.growth == "symmetric":
        raise ValueError(
            "forced_splits does not support growth='symmetric', which has one split for all nodes "
            f"of a level: set growth='leaf_wise', {remedy}"
        )
    if model.interaction_cst is not None:
        raise ValueError(
            f"forced_splits does not support interaction_cst: set interaction_cst=None, {remedy}"
        )
    if model.max_depth is not None and depth > model.max_depth:
        raise ValueError(
            f"forced_splits has the depth {depth}, and max_depth={model.max_depth}: raise "
            "max_depth, or leave out the lowest forced splits"
        )
    if model.max_leaf_nodes is not None and len(splits) >= model.max_leaf_nodes:
        raise ValueError(
            f"forced_splits has {len(splits)} splits, which make {len(splits) + 1} leaves, and "
            f"max_leaf_nodes={model.max_leaf_nodes}: raise max_leaf_nodes, or leave out some"
        )
    return splits


_WITHOUT_CURVATURE = {"absolute_error", "huber", "mape", "quantile"}


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


def check_shared_trees(model: HistGradientBoosting, loss: Loss, *, monotonic: bool) -> None:
    """Raise an error for parameters that ``multi_strategy="multi_output_tree"`` does not support.

    Raises
    ------
    ValueError
        If a parameter is not supported; the message names its value and a remedy.
    """
    separate = "or multi_strategy='one_output_per_tree'"
    if loss.name in _WITHOUT_CURVATURE:
        raise ValueError(
            "multi_strategy='multi_output_tree' needs a loss with second derivatives, which "
            f"loss={loss.name!r} does not have: set another loss, {separate}"
        )
    if monotonic:
        raise ValueError(
            "multi_strategy='multi_output_tree' does not support monotonic_cst, which every split "
            f"would have to keep for all outputs: set monotonic_cst=None, {separate}"
        )
    if model.growth == "symmetric":
        raise ValueError(
            "multi_strategy='multi_output_tree' does not support growth='symmetric': set "
            f"growth='leaf_wise', {separate}"
        )
    if model.linear_leaves:
        raise ValueError(
            "multi_strategy='multi_output_tree' does not support linear_leaves=True: set "
            f"linear_leaves=False, {separate}"
        )


def check_cross_columns(model: AutomaticBoosting, table: DenseTable | SparseTable) -> None:
    """Raise an error if ``cross_columns=True`` is not supported.

    Raises
    ------
    ValueError
        If there are constraints or weights of columns, or the table is sparse or has fewer than two
        numeric columns.
    """
    for name in ("monotonic_cst", "interaction_cst"):
        if getattr(model, name) is not None:
            raise ValueError(
                f"cross_columns=True does not support {name}, since a difference or product "
                f"depends on two columns: set cross_columns=False, or {name}=None"
            )
    if read_feature_weights(model.feature_weights, model.schema_):
        raise ValueError(
            "cross_columns=True does not support feature_weights, since a difference or product "
            "has no weight of its own: set cross_columns=False, or feature_weights=None"
        )
    if isinstance(table, SparseTable):
        raise ValueError(  # noqa: TRY004 - a sparse table is invalid with this parameter only
            "cross_columns=True does not support a sparse X: pass X.toarray(), or set "
            "cross_columns=False"
        )
    if model.schema_.kinds.count("numeric") < 2:
        raise ValueError(
            "cross_columns=True needs at least two numeric columns, and X has "
            f"{model.schema_.kinds.count('numeric')}: set cross_columns=False"
        )


def check_dense(table: DenseTable | SparseTable) -> None:
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
