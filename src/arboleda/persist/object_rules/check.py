"""Check that objects read from a file, and all objects they refer to, follow the rules."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from arboleda.persist.object_rules.attribute_rules import (
    DictOf,
    IntegerRule,
    OptionalRule,
    SettingRule,
    TextRule,
)
from arboleda.persist.object_rules.context import (
    BrokenRuleError,
    ClassRules,
    Context,
    prefix_errors,
)
from arboleda.persist.object_rules.own import OWN
from arboleda.persist.object_rules.scikit_learn_models import SCIKIT_LEARN_MODELS
from arboleda.persist.object_rules.scikit_learn_transformers import (
    SCIKIT_LEARN_TRANSFORMERS,
)

__all__ = ["RANDOM_STATE", "RULES", "check_estimators", "iterate_objects"]

# The only table of rules: objects of other classes are refused.
RULES: dict[str, ClassRules] = {**OWN, **SCIKIT_LEARN_MODELS, **SCIKIT_LEARN_TRANSFORMERS}

RANDOM_STATE = "numpy.random.mtrand.RandomState"
_MAX_JOBS = 256
_OUTPUT_CONFIG = DictOf(TextRule("default"))
_JOBS = IntegerRule(-1, _MAX_JOBS)
_SCALARS = (bool, int, float, str, np.bool_, np.float64, np.int64)


def check_estimators(estimators: Any) -> None:
    """Check a list whose entries are fitted estimators or None, and every object they refer to.

    Raises
    ------
    BrokenRuleError
        If an object's class has no rules, or an object does not follow them.
    """
    if type(estimators) is not list:
        raise BrokenRuleError("it does not hold a list of estimators")
    for estimator in estimators:
        if estimator is not None:
            with prefix_errors("one of its objects"):
                _check_object(estimator, is_fitted=True)


def iterate_objects(value: Any) -> Iterator[Any]:
    """Yield a value and every object that it refers to, each once."""
    seen: dict[int, Any] = {}
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, (*_SCALARS, type)) or item is None or id(item) in seen:
            continue
        seen[id(item)] = item
        yield item
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, (list, tuple)):
            waiting += item
        elif isinstance(item, np.ndarray):
            waiting += item.ravel().tolist() if item.dtype.hasobject else []
        elif hasattr(item, "__dict__"):
            waiting += vars(item).values()


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
        raise BrokenRuleError(f"is a {name[:100]}, which is not allowed here")
    if isinstance(value, dict):
        _check_container(dict(value))
    with prefix_errors(f"its {kind.__name__}"):
        parameters, attributes = _list_parameters(kind), vars(value)
        if (
            is_fitted
            or not parameters
            or any(_is_fitted_attribute(key, parameters) for key in attributes)
        ):
            _check_fitted(kind, attributes, rules, parameters)
        else:
            _check_parameters(kind, attributes, rules, parameters, is_fitted=False)
        _check_allowed_settings(value)


def _is_fitted_attribute(key: str, parameters: frozenset[str]) -> bool:
    """Whether an attribute is set by fitting an estimator."""
    return key not in parameters and key.endswith("_") and not key.startswith("_")


def _check_container(value: Any) -> None:
    for entry in value.values() if isinstance(value, dict) else value:
        SettingRule().check(entry, Context(_check_object))
    if isinstance(value, dict) and not all(isinstance(key, (str, int, float)) for key in value):
        raise BrokenRuleError("has a key that is neither text nor a number")


def _list_parameters(kind: type) -> frozenset[str]:
    """Return the names of an estimator's parameters; empty for other classes."""
    names = getattr(kind, "_get_param_names", None)
    return frozenset() if names is None else frozenset(names())


def _check_fitted(
    kind: type, attributes: Mapping[str, Any], rules: ClassRules, parameters: frozenset[str]
) -> None:
    """Check all attributes of a fitted object."""
    context = Context(_check_object)
    for key, rule in rules.attributes.items():
        if key in attributes:
            with prefix_errors(f"{key} of its {kind.__name__}"):
                rule.check(attributes[key], context)
        elif not isinstance(rule, OptionalRule):
            raise BrokenRuleError(f"has no {key}")
    _check_parameters(kind, attributes, rules, parameters, is_fitted=True)
    for key in attributes.keys() - rules.attributes.keys() - parameters:
        _check_unlisted(kind, key, attributes[key])
    for check in rules.agreements:
        check(attributes)


def _check_parameters(
    kind: type,
    attributes: Mapping[str, Any],
    rules: ClassRules,
    parameters: frozenset[str],
    is_fitted: bool,
) -> None:
    """Check an estimator's parameters; if it is fitted, only those without a rule of their own."""
    for key in sorted(parameters):
        if key not in attributes:
            raise BrokenRuleError(f"has no {key}")
        with prefix_errors(f"{key} of its {kind.__name__}"):
            if key == "n_jobs" and attributes[key] is not None:
                _JOBS.check(attributes[key], Context(_check_object))
            elif key not in rules.attributes or not is_fitted:
                rule = rules.attributes.get(key, SettingRule())
                rule.check(attributes[key], Context(_check_object, is_fitted=False))


def _check_unlisted(kind: type, key: str, value: Any) -> None:
    """Check an attribute without a rule, such as one of another version.

    It may be a scalar that does not hide an attribute of the class.
    """
    with prefix_errors(f"{str(key)[:60]} of its {kind.__name__}"):
        if key == "_sklearn_output_config":
            _OUTPUT_CONFIG.check(value, Context(_check_object))
        elif value is not None and type(value) not in _SCALARS:
            raise BrokenRuleError("has no rule")
        elif hasattr(kind, key):
            raise BrokenRuleError("hides an attribute of its class")


def _check_allowed_settings(value: Any) -> None:
    """Check the values of parameters as scikit-learn does in `fit`."""
    if hasattr(value, "_parameter_constraints"):
        validate: Callable[[], None] = value._validate_params
        try:
            validate()
        except (TypeError, ValueError) as error:
            text = str(error).splitlines()[0][:200].rstrip(".")
            raise BrokenRuleError(f"has parameters that are not allowed ({text})") from error


def _check_random_state(value: Any) -> None:
    """Check the position of a generator: compiled code reads its words from there, unchecked."""
    state = value.get_state(legacy=False)
    words = state["state"]["key"]
    if not 0 <= state["state"]["pos"] <= len(words):
        raise BrokenRuleError("is a RandomState whose position is out of range")
