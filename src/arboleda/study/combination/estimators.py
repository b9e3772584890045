"""A combination of fitted models as one estimator, and the same in ONNX."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.pipeline import Pipeline

from arboleda._engine.parallel import run_in_parallel
from arboleda.onnx_export import (
    GivenMatrix,
    Graph,
    ModelContext,
    add_class_scores,
    add_model,
    add_probabilities,
    add_weighted_sums,
    expand_shares,
    has_scores_alone,
)
from arboleda.scoring.scores import Predictions, class_scores
from arboleda.study.combination.boosted import MIN_PROBABILITY, BoostedRule
from arboleda.study.combination.rules import (
    LEAST,
    CombinationRule,
    LinearRule,
    MeanRule,
    TextbookRule,
)

__all__ = ["CombinedClassifier", "CombinedRegressor", "Named", "convert_combined_to_onnx"]

Floats = npt.NDArray[np.float64]
# A member's key, and its pipelines (one, or one per fold), whose mean is its output.
Named = tuple[str, list[Pipeline]]


class _Combined(BaseEstimator):  # type: ignore[misc]
    """Members and the rule that combines their outputs.

    ``n_threads`` is the number of members that predict at a time; results do not depend on it.
    """

    members_: list[Named]
    n_features_in_: int
    n_threads: int = 1

    def __init__(self, members: Sequence[Named], rule: CombinationRule) -> None:
        self.members = members
        self.rule = rule

    def _fit_members(self, X: Floats, y: npt.NDArray[Any]) -> None:
        """Refit all members; the rule is unchanged."""
        self.members_ = [
            (name, [clone(pipeline).fit(X, y) for pipeline in bag]) for name, bag in self.members
        ]
        self.n_features_in_ = X.shape[1]

    def compute_outputs(self, X: Floats) -> Floats:
        """Compute the outputs of each member.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)

        Returns
        -------
        outputs : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
        """
        tasks = [partial(self._predict_bag, bag, X) for _, bag in self.members_]
        return np.stack(run_in_parallel(tasks, self.n_threads))

    def _predict_bag(self, bag: Sequence[Pipeline], X: Floats, n_threads: int) -> Floats:
        """Compute the mean output of a bag, in one thread."""
        return np.asarray(
            np.mean([self._predict_pipeline(pipeline, X) for pipeline in bag], axis=0)
        )

    @abstractmethod
    def _predict_pipeline(self, pipeline: Pipeline, X: Floats) -> Floats:
        """Compute the output of a fitted pipeline."""


class CombinedClassifier(ClassifierMixin, _Combined):  # type: ignore[misc]
    """Classifiers of a study, and the rule that combines their outputs.

    Parameters
    ----------
    members : list of (str, list of Pipeline)
        Key and fitted pipelines of each member, whose mean is its output. They predict numbers of
        classes.
    rule : CombinationRule
        Fitted to the members' out-of-fold predictions.

    Attributes
    ----------
    members_ : list of (str, list of Pipeline)
        Fitted.
    classes_ : ndarray of shape (n_classes,)
        The numbers from 0.
    n_features_in_ : int
    """

    classes_: npt.NDArray[np.int64]

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Refit all members; the rule is unchanged.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        y : ndarray of int, shape (n_rows,)
            Numbers of classes.
        """
        self._fit_members(X, y)
        self.classes_ = np.arange(int(np.max(y)) + 1)
        return self

    @classmethod
    def from_fitted(
        cls, members: Sequence[Named], rule: CombinationRule, n_columns: int, n_classes: int
    ) -> "CombinedClassifier":
        """Create the combination of fitted members."""
        model = cls(members, rule)
        model.members_, model.n_features_in_ = list(members), n_columns
        model.classes_ = np.arange(n_classes)
        return model

    def predict_proba(self, X: Floats) -> Floats:
        """Predict the probabilities of the classes, of shape (n_rows, n_classes)."""
        return self.rule(self.compute_outputs(X))

    def predict(self, X: Floats) -> npt.NDArray[np.int64]:
        """Predict the number of the most probable class; the first wins ties."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def _predict_pipeline(self, pipeline: Pipeline, X: Floats) -> Floats:
        n_classes = len(self.classes_)
        score = class_scores(pipeline, X, n_classes)
        predicted = pipeline.predict(X) if score is None else np.empty(0)
        return Predictions(predicted, score).probabilities(n_classes)


class CombinedRegressor(RegressorMixin, _Combined):  # type: ignore[misc]
    """Regressors of a study, and the rule that combines their outputs.

    Parameters
    ----------
    members : list of (str, list of Pipeline)
        Key and fitted pipelines of each member, whose mean is its output.
    rule : CombinationRule
        Fitted to the members' out-of-fold predictions.

    Attributes
    ----------
    members_ : list of (str, list of Pipeline)
        Fitted.
    n_features_in_ : int
    """

    def fit(self, X: Floats, y: npt.NDArray[Any]) -> Self:
        """Refit all members; the rule is unchanged.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        y : ndarray of shape (n_rows,)
            Values.
        """
        self._fit_members(X, y)
        return self

    @classmethod
    def from_fitted(
        cls, members: Sequence[Named], rule: CombinationRule, n_columns: int
    ) -> "CombinedRegressor":
        """Create the combination of fitted members."""
        model = cls(members, rule)
        model.members_, model.n_features_in_ = list(members), n_columns
        return model

    def predict(self, X: Floats) -> Floats:
        """Predict the values, of shape (n_rows,)."""
        return self.rule(self.compute_outputs(X))

    def _predict_pipeline(self, pipeline: Pipeline, X: Floats) -> Floats:
        return np.asarray(pipeline.predict(X), dtype=np.float64)


def convert_combined_to_onnx(
    model: CombinedClassifier | CombinedRegressor, place: ModelContext
) -> str:
    """Add the members and the rule to the graph; return its probabilities or values."""
    graph, rule = place.graph, model.rule
    n_classes = len(model.classes_) if is_classifier(model) else 0
    outputs = []
    for _, bag in model.members_:
        parts = [_add_outputs(pipeline, n_classes, place) for pipeline in bag]
        outputs.append(graph.times(graph.sum(parts), 1.0 / len(bag)))
    if isinstance(rule, MeanRule):
        return _add_mean(rule, outputs, n_classes, graph)
    if isinstance(rule, BoostedRule):
        mean = _add_mean(rule.mean, outputs, n_classes, graph)
        trees = _add_boosted(rule, outputs, mean, n_classes, place)
        return graph.add("Add", graph.times(mean, 1.0 - rule.share), graph.times(trees, rule.share))
    if isinstance(rule, TextbookRule):
        raise ValueError(f"the rule {rule.name!r} has no operators here")  # noqa: TRY004 - a rule
    assert isinstance(rule, LinearRule)
    if n_classes == 2:
        outputs = [graph.columns(s, [1]) for s in outputs]
    sums = add_weighted_sums(graph.concat_columns(outputs), rule.coef, rule.intercept, graph)
    if not n_classes:
        return sums
    known = add_probabilities(sums, 2 if len(rule.coef) == 1 else len(rule.coef), graph)
    return expand_shares(known, len(rule.classes), np.asarray(rule.classes), n_classes, place)


def _add_mean(rule: MeanRule, outputs: list[str], n_classes: int, graph: Graph) -> str:
    weighted = [graph.times(s, w) for s, w in zip(outputs, rule.weights, strict=True) if w]
    mean = graph.sum(weighted) if weighted else graph.times(outputs[0], 0.0)
    if not n_classes or rule.temperature == 1.0:
        return mean
    logs = graph.times(_add_logarithm(mean, LEAST, graph), 1.0 / rule.temperature)
    return graph.add("Softmax", logs, axis=1)


def _add_boosted(
    rule: BoostedRule, outputs: list[str], mean: str, n_classes: int, place: ModelContext
) -> str:
    """Add the trees; their input is that of `make_columns`."""
    graph = place.graph
    if not n_classes:
        columns = [*(graph.add("Sub", s, mean) for s in outputs), mean]
    else:
        columns = [_add_logarithm(s, MIN_PROBABILITY, graph) for s in outputs]
    if n_classes == 2:
        columns = [graph.add("Sub", *(graph.columns(c, [k]) for k in (1, 0))) for c in columns]
    matrix = GivenMatrix(graph, graph.concat_columns(columns))
    inner = replace(place, inputs=matrix, columns=None)
    found = add_model(rule.model, inner)
    if not n_classes:
        return graph.add("Add", found, mean)
    known = rule.model.classes_
    return (
        found
        if len(known) == n_classes
        else expand_shares(found, len(known), known, n_classes, place)
    )


def _add_logarithm(outputs: str, least: float, graph: Graph) -> str:
    inside = graph.add("Min", graph.add("Max", outputs, graph.number(least)), graph.number(1.0))
    return graph.add("Log", inside)


def _add_outputs(pipeline: Any, n_classes: int, place: ModelContext) -> str:
    if not n_classes:
        return add_model(pipeline, place)
    n_known = len(pipeline.classes_)
    if has_scores_alone(pipeline):
        # As `Predictions.probabilities` makes some of scores.
        found = add_probabilities(add_class_scores(pipeline, place), n_known, place.graph)
    else:
        found = add_model(pipeline, place)
    if n_known == n_classes:
        return found
    return expand_shares(found, n_known, pipeline.classes_, n_classes, place)
