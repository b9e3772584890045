"""The file of a combined model: its rule and the keys of its members' files, in JSON.

The trees of a rule are stored as the bytes of their model file, in Base64.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from arboleda._utils.files import parse_strict_json
from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.combine import CLASS_RULES, VALUE_RULES
from arboleda.persist import model_from_bytes, model_to_bytes
from arboleda.study.combination.boosted import BoostedRule, Boosting
from arboleda.study.combination.estimators import CombinedClassifier, CombinedRegressor
from arboleda.study.combination.rules import CombinationRule, LinearRule, MeanRule, TextbookRule
from arboleda.tables.target import n_scores

__all__ = ["deserialize_combined", "serialize_combined"]

FORMAT, FORMAT_VERSION = "arboleda combined model", 1
Members = Sequence[tuple[str, Sequence[str]]]


def serialize_combined(
    members: Members, rule: CombinationRule, n_columns: int, n_classes: int
) -> bytes:
    """Serialize a combined model to the bytes of its file.

    Parameters
    ----------
    members : sequence of (str, sequence of str)
        The key of each member, and the keys of its models' files.
    rule : CombinationRule
    n_columns, n_classes : int
        Of the study; a regression has 0 classes.
    """
    entries = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "columns": n_columns,
        "classes": n_classes,
        "members": [{"key": key, "models": list(models)} for key, models in members],
        "rule": _describe_rule(rule),
    }
    return (json.dumps(entries, indent=1, allow_nan=False) + "\n").encode()


def deserialize_combined(
    content: bytes, read: Callable[[str], Pipeline]
) -> CombinedClassifier | CombinedRegressor:
    """Deserialize a combined model; ``read`` returns the fitted pipeline of a key.

    Raises
    ------
    ValueError, TypeError
        If the bytes are not such a file, are of a newer version, or the rule does not match the
        members.
    """
    stored = parse_strict_json(content, "the list of its members")
    match stored:
        case {
            "format": str(name),
            "format_version": int(version),
            "columns": int(n_columns),
            "classes": int(n_classes),
            "members": [_, *_] as listed,
            "rule": dict(entry),
        } if name == FORMAT and n_columns >= 0 and n_classes >= 0:
            if version > FORMAT_VERSION:
                raise ValueError("a newer version of arboleda wrote it")
        case _:
            raise ValueError("it is not a combined model")
    rule = _parse_rule(entry, len(listed), n_classes)
    members = [_load_member(one, read) for one in listed]
    if n_classes:
        return CombinedClassifier.from_fitted(members, rule, n_columns, n_classes)
    return CombinedRegressor.from_fitted(members, rule, n_columns)


def _load_member(stored: Any, read: Callable[[str], Pipeline]) -> tuple[str, list[Pipeline]]:
    match stored:
        case {"key": str(key), "models": [_, *_] as models} if all(
            isinstance(model, str) for model in models
        ):
            return key, [read(model) for model in models]
    raise ValueError("one of its members is invalid")


def _describe_rule(rule: CombinationRule) -> dict[str, Any]:
    if isinstance(rule, MeanRule):
        return {"kind": rule.kind, "weights": list(rule.weights), "temperature": rule.temperature}
    if isinstance(rule, BoostedRule):
        trees = base64.b64encode(model_to_bytes(rule.model)).decode()
        return {
            "kind": rule.kind,
            "mean": _describe_rule(rule.mean),
            "share": rule.share,
            "model": trees,
        }
    if isinstance(rule, TextbookRule):
        confusion = None if rule.confusion is None else rule.confusion.tolist()
        weights = None if rule.weights is None else list(rule.weights)
        return {
            "kind": rule.kind,
            "name": rule.name,
            "weights": weights,
            "confusion": confusion,
        }
    assert isinstance(rule, LinearRule)
    return {
        "kind": rule.kind,
        "coef": rule.coef.tolist(),
        "intercept": rule.intercept.tolist(),
        "classes": list(rule.classes),
    }


def _parse_rule(stored: Mapping[str, Any], n_members: int, n_classes: int) -> CombinationRule:
    match stored:
        case {"kind": "mean", "weights": list(weights), "temperature": temperature}:
            return _parse_mean(
                _parse_numbers(weights, 1), float(_parse_numbers([temperature], 1)[0]), n_members
            )
        case {"kind": "boosted", "mean": dict(mean), "share": share, "model": str(trees)}:
            tree_share = float(_parse_numbers([share], 1)[0])
            rule = _parse_rule(mean, n_members, n_classes)
            if not isinstance(rule, MeanRule) or not 0.0 <= tree_share <= 1.0:
                raise ValueError("the mean of its boosted rule is invalid")
            return BoostedRule(rule, _parse_trees(trees, n_members, n_classes), tree_share)
        case {
            "kind": "linear",
            "coef": list(coef),
            "intercept": list(intercept),
            "classes": list(classes),
        }:
            return _parse_linear(
                _parse_numbers(coef, 2), _parse_numbers(intercept, 1), classes, n_members, n_classes
            )
        case {"kind": "textbook", "name": str(name), "weights": weights, "confusion": confusion}:
            return _parse_textbook(name, weights, confusion, n_members, n_classes)
    raise ValueError("its rule is invalid")


def _parse_mean(weights: npt.NDArray[np.float64], temperature: float, n_members: int) -> MeanRule:
    if len(weights) != n_members or (weights < 0).any() or temperature <= 0:
        raise ValueError(
            "its rule needs a non-negative weight for each member and a positive temperature"
        )
    return MeanRule(tuple(weights.tolist()), temperature)


def _parse_textbook(
    name: str, weights: Any, confusion: Any, n_members: int, n_classes: int
) -> TextbookRule:
    if name not in (CLASS_RULES if n_classes else VALUE_RULES):
        raise ValueError("its rule is unknown")
    rule = TextbookRule(name, tuple(range(n_members)), n_classes)
    needs = name == "weighted", name == "naive_bayes"
    if (isinstance(weights, list), isinstance(confusion, list)) != needs:
        raise ValueError("the parameters of its rule are missing, or others")
    if isinstance(weights, list):
        numbers = _parse_numbers(weights, 1)
        if len(numbers) != n_members or not (numbers.any() or n_classes):
            raise ValueError("its rule needs a weight for each member, not all of them 0")
        return replace(rule, weights=tuple(numbers.tolist()))
    if isinstance(confusion, list):
        counts = np.array([_parse_numbers(one, 2) for one in confusion if isinstance(one, list)])
        if counts.shape != (n_members, n_classes, n_classes) or (counts < 0).any():
            raise ValueError(
                "its rule needs a matrix of counts, class by predicted class, for each member"
            )
        if not counts.sum(axis=(1, 2)).all():
            raise ValueError("its rule has a member whose counts are all 0")
        return replace(rule, confusion=counts)
    return rule


def _parse_trees(text: str, n_members: int, n_classes: int) -> Boosting:
    try:
        model = model_from_bytes(base64.b64decode(text, validate=True))
    except binascii.Error as error:
        raise ValueError("the trees of its rule are not in Base64") from error
    kind = HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor
    width = n_members * n_scores(n_classes) + (n_classes == 0)
    categories = getattr(model, "is_categorical_", None)
    if not isinstance(model, kind) or model.n_features_in_ != width or categories is not None:
        raise ValueError("the trees of its rule do not match the members")
    if isinstance(model, HistGradientBoostingClassifier):
        classes = model.classes_
        if classes.dtype.kind != "i" or classes.min() < 0 or classes.max() >= n_classes:
            raise ValueError("its rule predicts classes that the study does not have")
    return model


def _parse_linear(
    coef: npt.NDArray[np.float64],
    intercept: npt.NDArray[np.float64],
    classes: list[Any],
    n_members: int,
    n_classes: int,
) -> LinearRule:
    width = n_members * n_scores(n_classes)
    are_classes = all(type(k) is int and 0 <= k < n_classes for k in classes)
    n_outputs = 1 if len(classes) in (0, 2) else len(classes)
    if not are_classes or sorted(set(classes)) != classes or (len(classes) > 1) != (n_classes > 0):
        raise ValueError("its rule predicts classes that the study does not have")
    if coef.shape != (n_outputs, width) or intercept.shape != (n_outputs,):
        raise ValueError("its rule needs a coefficient for each output of a member")
    return LinearRule(coef, intercept, tuple(classes))


def _parse_numbers(values: list[Any], ndim: int) -> npt.NDArray[np.float64]:
    flat = values if ndim == 1 else [v for row in values if isinstance(row, list) for v in row]
    if not all(type(value) in (int, float) for value in flat):
        raise ValueError("its rule contains a value that is not a number")
    try:
        array = np.array(values, dtype=np.float64)
    except OverflowError as error:
        raise ValueError("a number of its rule is too large for 64-bit floating point") from error
    if array.ndim != ndim or not np.isfinite(array).all():
        raise ValueError("the numbers of its rule have another shape, or are not finite")
    return array
