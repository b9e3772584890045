"""Conversion of the library's models to sums over trees, with one function per kind of model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from arboleda._base.members import columns_of
from arboleda._engine.ensemble import TreeSum
from arboleda.adaboost import BoostedClassifier, BoostedRegressor, BoostedTreeMembers
from arboleda.bagging import MemberEnsemble, TreeMembers
from arboleda.boosting import BoostedModel
from arboleda.combine import Mean, Voting, WeightedMean
from arboleda.explain._explainable import (
    AveragedModels,
    Explainable,
    Scale,
    TreeModel,
    WeightedMember,
)
from arboleda.forest import ForestModel, IsolationForest
from arboleda.tree import DecisionTree

__all__ = ["as_explainable"]

Array = npt.NDArray[Any]


def as_explainable(model: Any) -> Explainable:
    """Convert a fitted model to a sum over trees.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    TypeError
        If it is not a model of the library that consists of trees.
    ValueError
        If its scores are not sums over trees.
    """
    if isinstance(model, FrozenEstimator):
        model = model.estimator
    for kind, convert in _KINDS.items():
        if isinstance(model, kind):
            _check_fitted(model)
            return convert(model)
    if isclass(model):
        raise TypeError(f"{model.__name__} is a class: give a fitted instance of it")
    raise TypeError(
        f"{type(model).__name__} is not a tree ensemble of arboleda: give a decision tree, a "
        "forest, bagged or boosted trees, or a mean of these; arboleda.from_sklearn, from_xgboost "
        "and from_lightgbm convert the models of other libraries; explain.lime and "
        "explain.importance work for any estimator"
    )


def _check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        name = type(model).__name__
        raise NotFittedError(f"this {name} is not fitted yet: call fit first") from error


def _read_tree(model: DecisionTree) -> TreeModel:
    names, scale = _make_target_names(model)
    trees = TreeSum.of_tree(model.tree_)
    p = model.n_features_in_
    return TreeModel(trees, model._check_input, range(p), p, names, scale)


def _read_forest(model: ForestModel) -> TreeModel:
    if not model._predicts_mean:
        raise ValueError(
            f"{type(model).__name__} predicts quantiles, which are not sums over trees: explain a "
            "RandomForestRegressor, or use explain.lime"
        )
    names, scale = _make_target_names(model)
    trees = TreeSum.of_forest(model.forest_, model._voting)
    p = model.n_features_in_
    return TreeModel(trees, model._check_input, range(p), p, names, scale)


def _read_isolation_forest(model: IsolationForest) -> TreeModel:
    if model.forest_ is None:
        raise ValueError(
            "trees that split by hyperplanes (extension_level > 0) have no split by one column to "
            "attribute: fit with extension_level=0, or use explain.lime"
        )
    trees = TreeSum.of_forest(model.forest_, "soft")
    p = model.n_features_in_
    return TreeModel(trees, model._check_input, range(p), p, ("path length",), "value")


def _read_boosted(model: BoostedModel) -> TreeModel:
    if model.ensemble_.has_linear_leaves:
        raise ValueError(
            f"the leaves of this {type(model).__name__} are linear functions of columns "
            "(linear_leaves=True), whose means the model does not store: fit with "
            "linear_leaves=False to explain it by Shapley values, or use explain.lime"
        )
    if len(model._crossed_columns):
        crossed = ", ".join(map(model.schema_.describe, model._crossed_columns))
        raise ValueError(
            f"the trees of this {type(model).__name__} split on differences and products of the "
            f"columns {crossed}, whose shares of a prediction cannot be told apart: fit with "
            "cross_columns=False to explain it by Shapley values, or use explain.lime"
        )
    init = getattr(model, "init_", None)
    if init is not None and not isinstance(init, str):
        raise ValueError(
            f"the scores of this {type(model).__name__} start from a {type(init).__name__} "
            "(init=), which is not a sum over trees: fit with init=None, or use explain.lime"
        )
    loss, p = model.loss_, model.n_features_in_
    names = _make_score_names(model, model.ensemble_.n_outputs)
    scale: Scale = "value" if loss.link == "identity" and not is_classifier(model) else "margin"
    owners = model.statistics_.owners(p).tolist()
    trees = TreeSum.of_ensemble(model.ensemble_)
    return TreeModel(trees, model._check_input, owners, p, names, scale)


def _read_members(model: MemberEnsemble) -> Explainable:
    members, p = model._members, model.n_features_in_
    names, scale = _make_target_names(model)
    if isinstance(members, TreeMembers):
        options = model._predict_options()
        weighted = members.weighted_forest(options)
        trees = (
            TreeSum.of_forest(members.forest, options.voting_of_trees)
            if weighted is None
            else TreeSum.of_members(weighted)
        )
        read = lambda X: members.checked(model, X, as_array=False)  # noqa: E731
        return TreeModel(trees, read, range(p), p, names, scale)
    if getattr(model, "voting", "soft") != "soft":
        raise ValueError(
            f"the members of this {type(model).__name__} vote for one class each (voting='hard'), "
            "so the prediction is not a sum over trees: fit with voting='soft'"
        )
    shares = np.full(len(members), 1.0 / len(members))
    if members.weights is not None:
        shares = members.weights
    parts = []
    for estimator, share, columns in zip(
        model.estimators_, shares.tolist(), model.estimators_features_, strict=True
    ):
        if share == 0.0:
            continue
        whole = np.array_equal(columns, np.arange(p))
        take = _keep_all_columns if whole else _make_column_selector(columns)
        known = np.arange(len(names)) if scale == "probability" else None
        parts.append(_make_member(estimator, share, names, scale, known, take, columns))
    return AveragedModels(tuple(parts), p, names, scale, model._checked)


def _read_boosted_classifier(model: BoostedClassifier) -> TreeModel:
    members = model._members
    if not isinstance(members, BoostedTreeMembers):
        raise TypeError(
            f"the members of this {type(model).__name__} are not trees boosted by the engine "
            f"({type(model.estimators_[0]).__name__}), so its score is not a sum over trees: boost "
            "DecisionTreeClassifier, or use explain.lime"
        )
    total, p = model._total_weight(), model.n_features_in_
    names = _make_score_names(model, 1 if model.n_classes_ <= 2 else model.n_classes_)
    return TreeModel(
        TreeSum.of_members(members.weighted),
        lambda X: members.checked(model, X),
        range(p),
        p,
        names,
        "margin",
        finish=lambda sums: model._compute_decision(sums, total),
    )


def _refuse_boosted_regressor(model: BoostedRegressor) -> Explainable:
    raise ValueError(
        f"{type(model).__name__} predicts the weighted median of its trees, which is not a sum "
        "over trees: explain a forest or gradient boosting, or use explain.lime"
    )


def _read_voting(model: Voting) -> AveragedModels:
    is_mean = isinstance(model._rule, Mean)
    if not is_mean:
        raise ValueError(
            f"this {type(model).__name__} does not take the mean of its members "
            f"({_describe_rule(model)}), so it is not a sum over trees: use voting='soft' or "
            "rule='mean' in classification, rule='mean' or 'weighted' in regression"
        )
    weights = model._rule.weights
    return _read_mean(model, None if weights is None else np.asarray(weights, dtype=np.float64))


def _describe_rule(model: Any) -> str:
    if model.rule is not None:
        return f"rule={model.rule!r}"
    return f"voting={getattr(model, 'voting', None)!r}"


def _read_weighted_mean(model: WeightedMean) -> AveragedModels:
    if not hasattr(model, "weights_"):
        raise ValueError(
            f"this {type(model).__name__} combines its members by a final estimator, so it is not "
            "a sum over trees: explain the members one by one, or use explain.lime"
        )
    return _read_mean(model, model.weights_)


def _read_mean(model: Any, weights: npt.NDArray[np.float64] | None) -> AveragedModels:
    """Convert a mean of named members, each fitted on the whole table."""
    members = model._fitted_members()
    weights = np.ones(len(members)) if weights is None else weights
    names, scale = _make_target_names(model)
    classes = getattr(model, "classes_", None)
    parts = []
    for (_, member), share in zip(members, (weights / weights.sum()).tolist(), strict=True):
        if share == 0.0:
            continue
        known = None
        if classes is not None:
            known = classes if isinstance(member, FrozenEstimator) else np.arange(len(classes))
        parts.append(_make_member(member, share, names, scale, known, _keep_all_columns, None))
    return AveragedModels(tuple(parts), int(model.n_features_in_), names, scale, _keep_all_columns)


def _make_member(
    member: Any,
    weight: float,
    names: tuple[str, ...],
    scale: Scale,
    known: Array | None,
    take: Callable[[Any], Any],
    columns: npt.NDArray[np.intp] | None,
) -> WeightedMember:
    """Make a member of a mean. known: the classes of the mean as the member encodes them."""
    converted = as_explainable(member)
    if converted.scale != scale:
        raise ValueError(
            f"the trees of the member {type(member).__name__} sum to a {converted.scale}, but the "
            f"ensemble averages a {scale}, which is not a sum over trees: explain the members one "
            "by one"
        )
    if known is None:
        outputs = np.arange(len(names))
    else:
        outputs = np.searchsorted(known, np.asarray(member.classes_))
    return WeightedMember(converted, weight, columns, outputs, take)


def _keep_all_columns(X: Any) -> Any:
    return X


def _make_column_selector(columns: npt.NDArray[np.intp]) -> Callable[[Any], Any]:
    return lambda X: columns_of(X, columns)


def _make_target_names(model: Any) -> tuple[tuple[str, ...], Scale]:
    """Return the names of all classes, or of the targets of a regression."""
    if not is_classifier(model):
        n_outputs = int(getattr(model, "n_outputs_", 1))
        return _number_names("value", n_outputs), "value"
    classes = model.classes_
    if isinstance(classes, list):
        names = [f"target {k}: {name}" for k, one in enumerate(classes) for name in _as_texts(one)]
        return tuple(names), "probability"
    return _as_texts(classes), "probability"


def _make_score_names(model: Any, n_scores: int) -> tuple[str, ...]:
    """Return names of margins (for two classes, of the second), values or quantiles."""
    if is_classifier(model) and isinstance(model.classes_, list):  # labels of two classes
        return tuple(f"target {k}: {known[-1]}" for k, known in enumerate(model.classes_))
    if is_classifier(model):
        return _as_texts(model.classes_[-1:] if n_scores == 1 else model.classes_)
    levels = getattr(model.loss_, "levels", ())
    if n_scores > 1 and len(levels) == n_scores:
        return tuple(f"quantile {level:g}" for level in levels)
    return _number_names("value", n_scores)


def _number_names(name: str, count: int) -> tuple[str, ...]:
    return (name,) if count == 1 else tuple(f"{name} {k}" for k in range(count))


def _as_texts(classes: Sequence[Any] | Array) -> tuple[str, ...]:
    return tuple(str(label) for label in np.asarray(classes).tolist())


_KINDS: dict[type, Callable[[Any], Explainable]] = {
    DecisionTree: _read_tree,
    ForestModel: _read_forest,
    IsolationForest: _read_isolation_forest,
    BoostedModel: _read_boosted,
    MemberEnsemble: _read_members,
    BoostedClassifier: _read_boosted_classifier,
    BoostedRegressor: _refuse_boosted_regressor,
    Voting: _read_voting,
    WeightedMean: _read_weighted_mean,
}
