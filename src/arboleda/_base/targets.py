"""Targets of trees and forests: classes or numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_array, compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, column_or_1d

from arboleda._base.tree_learner import Array, Floats, TreeLearner
from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.target import (
    as_columns,
    check_class_weights,
    label_columns,
    number_labels,
    unite_labels,
)
from arboleda.persist import Field, Integer, Labels, OneOrMore


def encode_classes(y: Any, estimator: Any) -> tuple[Array, npt.NDArray[np.intp]]:
    """Return the sorted classes of one target and the class code of each row.

    Error messages name `estimator`.

    Raises
    ------
    ValueError
        If there are several targets, or their values are not classes.
    """
    classes, numbers = number_classes(y, estimator)
    return classes, numbers.astype(np.intp)


def number_classes(y: Any, estimator: Any) -> tuple[Array, npt.NDArray[np.integer[Any]]]:
    """Return the same with codes of any type of integers; they may be y itself."""
    plain = type(y) is np.ndarray and y.ndim == 1 and y.size and y.dtype.kind in "biu"
    if not plain:
        y = column_or_1d(_check_y(y, estimator=estimator), warn=True)
        check_classification_targets(y)
    classes, numbers = number_labels(y)
    if plain and 2 * len(classes) > len(y):  # for integers it only warns about many classes
        check_classification_targets(y)
    return classes, numbers


def compute_weights_of_classes(
    class_weight: Any, classes: Array, counts: npt.NDArray[np.int64]
) -> Floats:
    """Return the weight of each class that has rows, and 0 for others.

    Parameters
    ----------
    class_weight : dict or "balanced"
    classes : ndarray of shape (n_classes,)
    counts : ndarray of shape (n_classes,)
        Numbers of rows.
    """
    present = np.flatnonzero(counts)
    weights = np.zeros(counts.size)
    if class_weight == "balanced":
        weights[present] = counts.sum() / (present.size * counts[present])
    else:
        known = classes[present]
        weights[present] = compute_class_weight(class_weight, classes=known, y=known)
    return weights


class ClassTarget(ClassifierMixin, TreeLearner):  # type: ignore[misc]
    """Mixin of classifiers; with several outputs, `classes_` and `n_classes_` are lists."""

    _target_attributes: ClassVar[dict[str, Field]] = {
        "n_classes_": OneOrMore(Integer(1)),
        "classes_": OneOrMore(Labels()),
    }

    class_weight: Any
    classes_: Any  # an array, or a list of arrays
    n_classes_: Any  # an int, or a list of them

    def _encode_target(self, y: Array) -> Array:
        if self._has_several_outputs(y):
            return self._encode_targets(y)
        self.classes_, inverse = encode_classes(y, self)
        labels = inverse.astype(np.uint32)  # the engine's type, which saves memory and a copy
        self.n_classes_ = len(self.classes_)
        self.n_outputs_: int = 1
        return labels

    def _encode_targets(self, y: Array) -> Array:
        y = check_array(y, dtype=None, input_name="y", estimator=self)
        outputs = label_columns(y)
        for output in outputs:
            check_classification_targets(output)
        encoded = [np.unique(output, return_inverse=True) for output in outputs]
        self.classes_ = [classes for classes, _ in encoded]
        self.n_classes_ = [len(classes) for classes in self.classes_]
        self.n_outputs_ = len(encoded)
        return np.column_stack([labels for _, labels in encoded])

    def _check_class_weights(self) -> list[Any]:
        """Return the parameter ``class_weight`` for each target."""
        one = self.n_outputs_ == 1
        weights: list[Any]
        if isinstance(self.class_weight, list):
            weights = self.class_weight
        else:
            if isinstance(self.class_weight, dict) and self.n_outputs_ > 1:
                raise ValueError(
                    "For multi-output, class_weight should be a list of dicts, or the string "
                    f"'balanced'; got one dict for {self.n_outputs_} targets"
                )
            weights = [self.class_weight] * self.n_outputs_
        if len(weights) != self.n_outputs_:
            raise ValueError(
                "For multi-output, number of elements in class_weight should match number of "
                f"outputs. Got {len(weights)} element(s) while having {self.n_outputs_} outputs"
            )
        for k, weight in enumerate(weights):
            check_class_weights(weight, "class_weight" if one else f"class_weight of output {k}")
        return weights

    def _compute_class_weight(self, y: Array) -> Floats:
        """Return the class weight of every row; for several targets, their product."""
        one = self.n_outputs_ == 1
        labels = [y] if one else list(y.T)
        classes = [self.classes_] if one else self.classes_
        weights = self._check_class_weights()
        parts = [
            compute_sample_weight(weight, known[codes])
            for weight, known, codes in zip(weights, classes, labels, strict=True)
        ]
        with np.errstate(over="ignore"):  # checked with the sum of all weights
            product: Floats = np.prod(parts, axis=0)
        return product

    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        if self.class_weight is None:
            return sample_weight
        return self._multiply_weights(self._compute_class_weight(y), sample_weight, ALONE)

    def _multiply_weights(
        self, weight: Floats, sample_weight: Floats | None, shards: AllShards
    ) -> Floats:
        """Check the class weight of every row, and multiply it by the sample weight."""
        is_valid = np.isfinite(weight).all() and (weight >= 0).all()
        is_faulty, any_positive = shards.is_any(np.array([not is_valid, weight.any()]))
        if is_faulty or not any_positive:
            raise ValueError(
                f"class_weight={self.class_weight!r} must give every class a finite, non-negative "
                "weight, and at least one class a positive weight"
            )
        if sample_weight is None:
            return weight
        with np.errstate(over="ignore"):  # checked with the sum of all weights
            weight = weight * sample_weight
        if not shards.is_any(np.array([weight.any()])).all():
            raise ValueError(
                f"class_weight={self.class_weight!r} and sample_weight give no row a "
                "positive weight"
            )
        return weight

    # A table in shards, with one target: the classes and their weights are those of all rows.

    def _encode_shard_target(self, y: Array) -> Array:
        return self._encode_target(y)

    def _unite_target(self, target: Array | None, shards: AllShards) -> Array:
        parts = shards.gather(None if target is None else self.classes_)
        known = [part for part in parts if part is not None]
        own = known[0] if target is None else self.classes_
        self.classes_ = unite_labels(known)
        self.n_classes_, self.n_outputs_ = len(self.classes_), 1
        codes: Array = np.searchsorted(self.classes_, own).astype(np.uint32)
        return codes[:0] if target is None else codes[target]

    def _shard_weight(
        self, target: Array, sample_weight: Floats | None, shards: AllShards
    ) -> Floats | None:
        if self.class_weight is None:
            return sample_weight
        (class_weight,) = self._check_class_weights()
        counts = shards.add(np.bincount(target, minlength=len(self.classes_)))
        by_class = compute_weights_of_classes(class_weight, self.classes_, counts)
        return self._multiply_weights(by_class[target], sample_weight, shards)

    def _directions(self) -> list[int]:
        directions = super()._directions()
        if directions and self.n_classes_ > 2:
            raise ValueError(
                f"monotonic_cst is given for {self.n_classes_} classes: Monotonicity constraints "
                "are not supported with multiclass classification"
            )
        return directions

    def _value_widths(self) -> tuple[int, ...]:
        return (self.n_classes_,) if self.n_outputs_ == 1 else tuple(self.n_classes_)

    def _defect(self) -> str | None:
        one = self.n_outputs_ == 1
        listed = {isinstance(self.n_classes_, list), isinstance(self.classes_, list)}
        if listed != {not one}:
            return "the numbers of targets of classes_ and n_outputs_ differ"
        classes = [self.classes_] if one else self.classes_
        if len(classes) != self.n_outputs_:
            return "the numbers of targets of classes_ and n_outputs_ differ"
        if tuple(map(len, classes)) != self._value_widths():
            return "the numbers of classes of classes_ and n_classes_ differ"
        return super()._defect()

    def _parts(self, shares: Floats) -> list[Floats]:
        """Split class shares by output."""
        return np.split(shares, np.cumsum(self._value_widths())[:-1], axis=1)

    def _labels_of(self, shares: Floats) -> Array:
        """Return the class with the largest share; ties go to the first class."""
        if self.n_outputs_ == 1:
            labels: Array = self.classes_[shares.argmax(axis=1)]
            return labels
        parts = zip(self.classes_, self._parts(shares), strict=True)
        return as_columns([classes[part.argmax(axis=1)] for classes, part in parts])

    def _decode_predictions(self, raw: Floats) -> Array:
        return self._labels_of(raw)

    def _decode_probabilities(self, raw: Floats) -> Floats | list[Floats]:
        return raw if self.n_outputs_ == 1 else self._parts(raw)

    def _compute_log_probabilities(self, p: Floats | list[Floats]) -> Floats | list[Floats]:
        """Return logarithms; minus infinity for 0."""
        with np.errstate(divide="ignore"):
            return [np.log(part) for part in p] if isinstance(p, list) else np.log(p)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._supports_multi_output
        return tags


class NumberTarget(RegressorMixin, TreeLearner):  # type: ignore[misc]
    """Mixin of regressors."""

    criterion: str

    def _encode_target(self, y: Array) -> Array:
        targets = self._read_numbers(y)
        if self.criterion == "poisson":
            _check_not_zero(targets, ALONE)
        return targets

    def _read_numbers(self, y: Array) -> Floats:
        several = self._has_several_outputs(y)
        with np.errstate(over="ignore", invalid="ignore"):  # its check sums huge values
            y = _check_y(y, multi_output=several, y_numeric=True, estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {y.dtype}: convert dates and durations to numbers"
            )
        targets: Floats = (y if several else column_or_1d(y, warn=True)).astype(np.float64)
        self.n_outputs_: int = targets.shape[1] if several else 1
        if self.criterion == "poisson":
            _check_not_negative(targets)
        return targets

    # A table in shards, with one target.

    def _encode_shard_target(self, y: Array) -> Array:
        return self._read_numbers(y)

    def _unite_target(self, target: Array | None, shards: AllShards) -> Array:
        self.n_outputs_ = 1
        targets = np.empty(0) if target is None else target
        if self.criterion == "poisson":
            _check_not_zero(targets, shards)
        return targets

    def _shard_weight(
        self, target: Array, sample_weight: Floats | None, shards: AllShards
    ) -> Floats | None:
        return sample_weight

    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        return sample_weight

    def _value_widths(self) -> tuple[int, ...]:
        return (1,) * self.n_outputs_

    def _decode_predictions(self, raw: Floats) -> Floats:
        return raw[:, 0] if self.n_outputs_ == 1 else raw

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags


def _check_not_negative(targets: Floats) -> None:
    """Raise an error for negative targets."""
    negative = np.argwhere(targets < 0)
    if negative.size:
        row, *output = negative[0]
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson regression: y is "
            f"{targets[tuple(negative[0])]} in row {row}{_format_output(output)}; drop such rows "
            "or use another criterion"
        )


def _check_not_zero(targets: Floats, shards: AllShards) -> None:
    """Raise an error for outputs that are 0 in all rows of all shards."""
    zero = ~shards.is_any(np.atleast_1d(targets.any(axis=0)))
    if zero.any():
        output = np.flatnonzero(zero)[: targets.ndim - 1]
        raise ValueError(
            "Sum of y is not positive which is necessary for Poisson regression: y is 0 in every "
            f"row{_format_output(output)}; use another criterion"
        )


def _format_output(output: Iterable[int]) -> str:
    return "".join(f" of output {k}" for k in output)
