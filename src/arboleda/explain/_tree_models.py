"""Which of the library's models are sums over trees, and of what: one function a kind of model."""

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

from arboleda._engine.shap import TreeSum
from arboleda.adaboost._boosted_classifier import BoostedClassifier
from arboleda.adaboost._boosted_regressor import BoostedRegressor
from arboleda.adaboost._tree_members import BoostedTreeMembers
from arboleda.bagging._ensemble import MemberEnsemble
from arboleda.bagging._tables import columns_of
from arboleda.bagging._tree_members import TreeMembers
from arboleda.boosting._boosted_model import BoostedModel
from arboleda.combine._share_rules import Mean
from arboleda.combine._voting import Voting
from arboleda.combine._weighted_mean import WeightedMean
from arboleda.explain._explainable import Explainable, MeanOfModels, Part, Scale, TreeModel
from arboleda.forest._forest_model import ForestModel
from arboleda.tree._decision_tree import DecisionTree

__all__ = ["explainable"]

Array = npt.NDArray[Any]


def explainable(model: Any) -> Explainable:
    """Read a fitted model as a sum over trees.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    TypeError
        If it is no model of the library that consists of trees.
    ValueError
        If it is one whose scores are no sums over trees.
    """
    if isinstance(model, FrozenEstimator):
        model = model.estimator
    for kind, read in _KINDS.items():
        if isinstance(model, kind):
            _check_fitted(model)
            return read(model)
    if isclass(model):
        raise TypeError(f"{model.__name__} is a class: give a fitted instance of it")
    raise TypeError(
        f"{type(model).__name__} is no tree ensemble of arboleda: give a decision tree, a forest, "
        "bagged or boosted trees, or a mean of such; arboleda.from_sklearn, from_xgboost and "
        "from_lightgbm make ours of those of other libraries; explain.lime and explain.importance "
        "work for any estimator"
    )


def _check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        name = type(model).__name__
        raise NotFittedError(f"this {name} is not fitted yet: call its fit first") from error


def _of_tree(model: DecisionTree) -> TreeModel:
    names, scale = _target_names(model)
    trees = TreeSum.of_tree(model.tree_)
    p = model.n_features_in_
    return TreeModel(trees, model._check_input, range(p), p, names, scale)


def _of_forest(model: ForestModel) -> TreeModel:
    if not model._predicts_mean:
        raise ValueError(
            f"{type(model).__name__} predicts quantiles, which are no sums over trees: explain a "
            "RandomForestRegressor, or use explain.lime"
        )
    names, scale = _target_names(model)
    trees = TreeSum.of_forest(model.forest_, model._voting)
    p = model.n_features_in_
    return TreeModel(trees, model._check_input, range(p), p, names, scale)


def _of_boosted(model: BoostedModel) -> TreeModel:
    if model.ensemble_.has_linear_leaves:
        raise ValueError(
            f"the leaves of this {type(model).__name__} are linear functions of columns "
            "(linear_leaves=True), whose means the model does not keep: fit with "
            "linear_leaves=False to explain it by Shapley values, or use explain.lime"
        )
    init = getattr(model, "init_", None)
    if init is not None and not isinstance(init, str):
        raise ValueError(
            f"the scores of this {type(model).__name__} begin from a {type(init).__name__} "
            "(init=), which is no sum over trees: fit with init=None, or use explain.lime"
        )
    loss, p = model.loss_, model.n_features_in_
    names = _names_of_scores(model, model.ensemble_.n_outputs)
    scale: Scale = "value" if loss.link == "identity" and not is_classifier(model) else "margin"
    owners = model.statistics_.owners(p).tolist()
    trees = TreeSum.of_ensemble(model.ensemble_)
    return TreeModel(trees, model._check_input, owners, p, names, scale)


def _of_members(model: MemberEnsemble) -> Explainable:
    members, p = model._members, model.n_features_in_
    names, scale = _target_names(model)
    if isinstance(members, TreeMembers):
        asking = model._predict_options()
        weighted = members.weighted_forest(asking)
        trees = (
            TreeSum.of_forest(members.forest, asking.voting_of_trees)
            if weighted is None
            else TreeSum.of_members(weighted)
        )
        read = lambda X: members.checked(model, X, as_array=False)  # noqa: E731
        return TreeModel(trees, read, range(p), p, names, scale)
    if getattr(model, "voting", "soft") != "soft":
        raise ValueError(
            f"the members of this {type(model).__name__} vote for one class each (voting='hard'), "
            "and what they predict is no sum over trees: fit with voting='soft'"
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
        take = _whole if whole else _columns_taken(columns)
        known = np.arange(len(names)) if scale == "probability" else None
        parts.append(_part(estimator, share, names, scale, known, take, columns))
    return MeanOfModels(tuple(parts), p, names, scale, model._checked)


def _of_boosted_classifier(model: BoostedClassifier) -> TreeModel:
    members = model._members
    if not isinstance(members, BoostedTreeMembers):
        raise TypeError(
            f"the members of this {type(model).__name__} are no trees that the engine boosts "
            f"({type(model.estimators_[0]).__name__}), so its score is no sum over trees: boost "
            "DecisionTreeClassifier, or use explain.lime"
        )
    total, p = model._total_weight(), model.n_features_in_
    names = _names_of_scores(model, 1 if model.n_classes_ <= 2 else model.n_classes_)
    return TreeModel(
        TreeSum.of_members(members.weighted),
        lambda X: members.checked(model, X),
        range(p),
        p,
        names,
        "margin",
        finish=lambda sums: model._compute_decision(sums, total),
    )


def _of_boosted_regressor(model: BoostedRegressor) -> Explainable:
    raise ValueError(
        f"{type(model).__name__} predicts the weighted median of its trees, and a median is no sum "
        "of what they say: explain a forest or gradient boosting, or use explain.lime"
    )


def _of_voting(model: Voting) -> MeanOfModels:
    is_mean = isinstance(model._rule, Mean)
    if not is_mean:
        raise ValueError(
            f"this {type(model).__name__} does not take the mean of its members "
            f"({_rule_of(model)}), so its answer is no sum over trees: use voting='soft' or "
            "rule='mean' in classification, rule='mean' or 'weighted' in regression"
        )
    weights = model._rule.weights
    return _mean(model, None if weights is None else np.asarray(weights, dtype=np.float64))


def _rule_of(model: Any) -> str:
    if model.rule is not None:
        return f"rule={model.rule!r}"
    return f"voting={getattr(model, 'voting', None)!r}"


def _of_weighted_mean(model: WeightedMean) -> MeanOfModels:
    return _mean(model, model.weights_)


def _mean(model: Any, weights: npt.NDArray[np.float64] | None) -> MeanOfModels:
    """Mean of named members, each fitted on the whole table."""
    members = model._fitted_members()
    weights = np.ones(len(members)) if weights is None else weights
    names, scale = _target_names(model)
    classes = getattr(model, "classes_", None)
    parts = []
    for (_, member), share in zip(members, (weights / weights.sum()).tolist(), strict=True):
        if share == 0.0:
            continue
        known = None
        if classes is not None:
            known = classes if isinstance(member, FrozenEstimator) else np.arange(len(classes))
        parts.append(_part(member, share, names, scale, known, _whole, None))
    return MeanOfModels(tuple(parts), int(model.n_features_in_), names, scale, _whole)


def _part(
    member: Any,
    weight: float,
    names: tuple[str, ...],
    scale: Scale,
    known: Array | None,
    take: Callable[[Any], Any],
    columns: npt.NDArray[np.intp] | None,
) -> Part:
    """Member of a mean. known: the classes of the mean as the member knows them."""
    read = explainable(member)
    if read.scale != scale:
        raise ValueError(
            f"the member {type(member).__name__} adds up trees to a {read.scale}, but the ensemble "
            f"takes the mean of what is made of it, a {scale}, which is no sum over trees: explain "
            "the members one by one"
        )
    if known is None:
        outputs = np.arange(len(names))
    else:
        outputs = np.searchsorted(known, np.asarray(member.classes_))
    return Part(read, weight, columns, outputs, take)


def _whole(X: Any) -> Any:
    return X


def _columns_taken(columns: npt.NDArray[np.intp]) -> Callable[[Any], Any]:
    return lambda X: columns_of(X, columns)


def _target_names(model: Any) -> tuple[tuple[str, ...], Scale]:
    """Names of all classes, or of the targets of a regression."""
    if not is_classifier(model):
        n_outputs = int(getattr(model, "n_outputs_", 1))
        return _numbered("value", n_outputs), "value"
    classes = model.classes_
    if isinstance(classes, list):
        names = [f"target {k}: {name}" for k, one in enumerate(classes) for name in _texts(one)]
        return tuple(names), "probability"
    return _texts(classes), "probability"


def _names_of_scores(model: Any, n_scores: int) -> tuple[str, ...]:
    """Names of margins, of two classes that of the second, or of values or quantiles."""
    if is_classifier(model):
        return _texts(model.classes_[-1:] if n_scores == 1 else model.classes_)
    levels = getattr(model.loss_, "levels", ())
    if n_scores > 1 and len(levels) == n_scores:
        return tuple(f"quantile {level:g}" for level in levels)
    return _numbered("value", n_scores)


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return (name,) if count == 1 else tuple(f"{name} {k}" for k in range(count))


def _texts(classes: Sequence[Any] | Array) -> tuple[str, ...]:
    return tuple(str(label) for label in np.asarray(classes).tolist())


_KINDS: dict[type, Callable[[Any], Explainable]] = {
    DecisionTree: _of_tree,
    ForestModel: _of_forest,
    BoostedModel: _of_boosted,
    MemberEnsemble: _of_members,
    BoostedClassifier: _of_boosted_classifier,
    BoostedRegressor: _of_boosted_regressor,
    Voting: _of_voting,
    WeightedMean: _of_weighted_mean,
}
