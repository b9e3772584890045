"""Checks that objects read from a file, and all that hangs on them, follow the rules."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from arboleda.study.artifacts.object_rules.kinds import (
    BrokenRuleError,
    ClassRules,
    Context,
    DictOf,
    Optional,
    Plain,
    Text,
    Whole,
    named,
)
from arboleda.study.artifacts.object_rules.own import OWN
from arboleda.study.artifacts.object_rules.scikit_learn import SCIKIT_LEARN

__all__ = ["RANDOM_STATE", "RULES", "check_estimators", "iterate_objects"]

# The one table: an object of a class that is not in it is not let in.
RULES: dict[str, ClassRules] = {**OWN, **SCIKIT_LEARN}

RANDOM_STATE = "numpy.random.mtrand.RandomState"
_MOST_JOBS = 256
_OUTPUT_CONFIG = DictOf(Text("default"))
_JOBS = Whole(-1, _MOST_JOBS)
_SCALARS = (bool, int, float, str, np.bool_, np.float64, np.int64)


def check_estimators(estimators: Any) -> None:
    """Check a list of fitted estimators, or None, and every object that hangs on them.

    Raises
    ------
    BrokenRuleError
        If an object's class has no rules, or an object does not follow them.
    """
    if type(estimators) is not list:
        raise BrokenRuleError("it holds no list of estimators")
    for estimator in estimators:
        if estimator is not None:
            with named("one of its objects"):
                _check_object(estimator, is_fitted=True)


def iterate_objects(value: Any) -> Iterator[Any]:
    """Every object that hangs on a value, itself included, each once."""
    seen: dict[int, Any] = {}
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, (*_SCALARS, type)) or found is None or id(found) in seen:
            continue
        seen[id(found)] = found
        yield found
        if isinstance(found, dict):
            waiting += found.values()
        elif isinstance(found, (list, tuple)):
            waiting += found
        elif isinstance(found, np.ndarray):
            waiting += found.ravel().tolist() if found.dtype.hasobject else []
        elif hasattr(found, "__dict__"):
            waiting += vars(found).values()


def _check_object(value: Any, is_fitted: bool) -> None:
    kind = type(value)
    if kind in (list, tuple, dict):
        _check_container(value)
        return
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name == RANDOM_STATE:
        _check_random_state(value)
        return
    rules = RULES.get(name)
    if rules is None:
        raise BrokenRuleError(f"is a {name[:100]}, which has no place there")
    if isinstance(value, dict):
        _check_container(dict(value))
    with named(f"its {kind.__name__}"):
        settings, found = _settings(kind), vars(value)
        if is_fitted or not settings or any(_is_fitted(key, settings) for key in found):
            _check_all(kind, found, rules, settings)
        else:
            _check_settings(kind, found, rules, settings, is_fitted=False)
        _check_allowed_settings(value)


def _is_fitted(key: str, settings: frozenset[str]) -> bool:
    """Whether an attribute is one that estimators have once they are fitted."""
    return key not in settings and key.endswith("_") and not key.startswith("_")


def _check_container(value: Any) -> None:
    for entry in value.values() if isinstance(value, dict) else value:
        Plain().check(entry, Context(_check_object))
    if isinstance(value, dict) and not all(isinstance(key, (str, int, float)) for key in value):
        raise BrokenRuleError("has a key that is neither a text nor a number")


def _settings(kind: type) -> frozenset[str]:
    """Names of an estimator's parameters."""
    names = getattr(kind, "_get_param_names", None)
    return frozenset() if names is None else frozenset(names())


def _check_all(
    kind: type, found: Mapping[str, Any], rules: ClassRules, settings: frozenset[str]
) -> None:
    """Check all attributes of a fitted object."""
    context = Context(_check_object)
    for key, rule in rules.attributes.items():
        if key in found:
            with named(f"{key} of its {kind.__name__}"):
                rule.check(found[key], context)
        elif not isinstance(rule, Optional):
            raise BrokenRuleError(f"has no {key}")
    _check_settings(kind, found, rules, settings, is_fitted=True)
    for key in found.keys() - rules.attributes.keys() - settings:
        _check_other(kind, key, found[key])
    for check in rules.agreements:
        check(found)


def _check_settings(
    kind: type,
    found: Mapping[str, Any],
    rules: ClassRules,
    settings: frozenset[str],
    is_fitted: bool,
) -> None:
    """Check an estimator's parameters; of a fitted one those without a rule of their own."""
    for key in sorted(settings):
        if key not in found:
            raise BrokenRuleError(f"has no {key}")
        with named(f"{key} of its {kind.__name__}"):
            if key == "n_jobs" and found[key] is not None:
                _JOBS.check(found[key], Context(_check_object))
            elif key not in rules.attributes or not is_fitted:
                rule = rules.attributes.get(key, Plain())
                rule.check(found[key], Context(_check_object, is_fitted=False))


def _check_other(kind: type, key: str, value: Any) -> None:
    """What another version may keep: a scalar that hides no attribute of the class."""
    with named(f"{str(key)[:60]} of its {kind.__name__}"):
        if key == "_sklearn_output_config":
            _OUTPUT_CONFIG.check(value, Context(_check_object))
        elif value is not None and type(value) not in _SCALARS:
            raise BrokenRuleError("has no rule")
        elif hasattr(kind, key):
            raise BrokenRuleError("hides an attribute of its class")


def _check_allowed_settings(value: Any) -> None:
    """What scikit-learn checks when an estimator is fitted."""
    if hasattr(value, "_parameter_constraints"):
        validate: Callable[[], None] = value._validate_params
        try:
            validate()
        except (TypeError, ValueError) as error:
            text = str(error).splitlines()[0][:200].rstrip(".")
            raise BrokenRuleError(f"has settings that are not allowed ({text})") from error


def _check_random_state(value: Any) -> None:
    """Compiled code reads its words from the position on, without looking at their number."""
    state = value.get_state(legacy=False)
    words = state["state"]["key"]
    if not 0 <= state["state"]["pos"] <= len(words):
        raise BrokenRuleError("is a RandomState with a position that it does not have")
