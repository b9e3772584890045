"""A combined model as a file: its rule in JSON, and the keys under which its members are kept.

Trees of a rule are there as the bytes of their model file, in base 64.
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
from arboleda.study.data.target import n_scores

__all__ = ["combined_from_bytes", "combined_to_bytes"]

FORMAT, FORMAT_VERSION = "arboleda combined model", 1
Members = Sequence[tuple[str, Sequence[str]]]


def combined_to_bytes(
    members: Members, rule: CombinationRule, n_columns: int, n_classes: int
) -> bytes:
    """The file's bytes.

    Parameters
    ----------
    members : sequence of (str, sequence of str)
        Each member's key, and the keys under which its models are kept.
    rule : CombinationRule
    n_columns, n_classes : int
        Of the study; no classes in a regression.
    """
    entries = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "columns": n_columns,
        "classes": n_classes,
        "members": [{"key": key, "models": list(models)} for key, models in members],
        "rule": _entry(rule),
    }
    return (json.dumps(entries, indent=1, allow_nan=False) + "\n").encode()


def combined_from_bytes(
    content: bytes, read: Callable[[str], Pipeline]
) -> CombinedClassifier | CombinedRegressor:
    """The fitted model; ``read`` gives the fitted pipeline that is kept under a key.

    Raises
    ------
    ValueError, TypeError
        If the bytes are no such file, are of a newer version, or the rule does not fit the members.
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
            raise ValueError("it is no combined model")
    rule = _rule(entry, len(listed), n_classes)
    members = [_member(one, read) for one in listed]
    if n_classes:
        return CombinedClassifier.from_fitted(members, rule, n_columns, n_classes)
    return CombinedRegressor.from_fitted(members, rule, n_columns)


def _member(stored: Any, read: Callable[[str], Pipeline]) -> tuple[str, list[Pipeline]]:
    match stored:
        case {"key": str(key), "models": [_, *_] as models} if all(
            isinstance(model, str) for model in models
        ):
            return key, [read(model) for model in models]
    raise ValueError("a member of it is none")


def _entry(rule: CombinationRule) -> dict[str, Any]:
    if isinstance(rule, MeanRule):
        return {"kind": rule.kind, "weights": list(rule.weights), "temperature": rule.temperature}
    if isinstance(rule, BoostedRule):
        trees = base64.b64encode(model_to_bytes(rule.model)).decode()
        return {"kind": rule.kind, "mean": _entry(rule.mean), "share": rule.share, "model": trees}
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


def _rule(stored: Mapping[str, Any], n_members: int, n_classes: int) -> CombinationRule:
    match stored:
        case {"kind": "mean", "weights": list(weights), "temperature": temperature}:
            return _mean(_numbers(weights, 1), float(_numbers([temperature], 1)[0]), n_members)
        case {"kind": "boosted", "mean": dict(mean), "share": share, "model": str(trees)}:
            part = float(_numbers([share], 1)[0])
            rule = _rule(mean, n_members, n_classes)
            if not isinstance(rule, MeanRule) or not 0.0 <= part <= 1.0:
                raise ValueError("the mean beside its trees is none")
            return BoostedRule(rule, _trees(trees, n_members, n_classes), part)
        case {
            "kind": "linear",
            "coef": list(coef),
            "intercept": list(intercept),
            "classes": list(classes),
        }:
            return _linear(_numbers(coef, 2), _numbers(intercept, 1), classes, n_members, n_classes)
        case {"kind": "textbook", "name": str(name), "weights": weights, "confusion": confusion}:
            return _textbook(name, weights, confusion, n_members, n_classes)
    raise ValueError("it has no rule")


def _mean(weights: npt.NDArray[np.float64], heat: float, n_members: int) -> MeanRule:
    if len(weights) != n_members or (weights < 0).any() or heat <= 0:
        raise ValueError("its weights are not one for each member, or negative")
    return MeanRule(tuple(weights.tolist()), heat)


def _textbook(
    name: str, weights: Any, confusion: Any, n_members: int, n_classes: int
) -> TextbookRule:
    if name not in (CLASS_RULES if n_classes else VALUE_RULES):
        raise ValueError("its rule is none of those that are known")
    rule = TextbookRule(name, tuple(range(n_members)), n_classes)
    needs = name == "weighted", name == "naive_bayes"
    if (isinstance(weights, list), isinstance(confusion, list)) != needs:
        raise ValueError("its rule has not what it needs")
    if isinstance(weights, list):
        found = _numbers(weights, 1)
        if len(found) != n_members or not (found.any() or n_classes):
            raise ValueError("its weights are not one for each member, or all 0")
        return replace(rule, weights=tuple(found.tolist()))
    if isinstance(confusion, list):
        counts = np.array([_numbers(one, 2) for one in confusion if isinstance(one, list)])
        if counts.shape != (n_members, n_classes, n_classes) or (counts < 0).any():
            raise ValueError("its rule has not the rows by class that each member said")
        if not counts.sum(axis=(1, 2)).all():
            raise ValueError("its rule has learned from no row")
        return replace(rule, confusion=counts)
    return rule


def _trees(text: str, n_members: int, n_classes: int) -> Boosting:
    try:
        model = model_from_bytes(base64.b64decode(text, validate=True))
    except binascii.Error as error:
        raise ValueError("the trees of its rule are not in base 64") from error
    kind = HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor
    width = n_members * n_scores(n_classes) + (n_classes == 0)
    categories = getattr(model, "is_categorical_", None)
    if not isinstance(model, kind) or model.n_features_in_ != width or categories is not None:
        raise ValueError("the trees of its rule do not fit the members")
    if isinstance(model, HistGradientBoostingClassifier):
        known = model.classes_
        if known.dtype.kind != "i" or known.min() < 0 or known.max() >= n_classes:
            raise ValueError("its rule gives classes that the study does not have")
    return model


def _linear(
    coef: npt.NDArray[np.float64],
    intercept: npt.NDArray[np.float64],
    classes: list[Any],
    n_members: int,
    n_classes: int,
) -> LinearRule:
    width = n_members * n_scores(n_classes)
    known = all(type(k) is int and 0 <= k < n_classes for k in classes)
    n_outputs = 1 if len(classes) in (0, 2) else len(classes)
    if not known or sorted(set(classes)) != classes or (len(classes) > 1) != (n_classes > 0):
        raise ValueError("its rule gives classes that the study does not have")
    if coef.shape != (n_outputs, width) or intercept.shape != (n_outputs,):
        raise ValueError("its rule has not a coefficient for each answer of a member")
    return LinearRule(coef, intercept, tuple(classes))


def _numbers(values: list[Any], ndim: int) -> npt.NDArray[np.float64]:
    flat = values if ndim == 1 else [v for row in values if isinstance(row, list) for v in row]
    if not all(type(value) in (int, float) for value in flat):
        raise ValueError("its rule holds what is no number")
    try:
        found = np.array(values, dtype=np.float64)
    except OverflowError as error:
        raise ValueError("its rule's numbers are beyond what a number can be") from error
    if found.ndim != ndim or not np.isfinite(found).all():
        raise ValueError("its rule's numbers are of another shape, or not finite")
    return found
