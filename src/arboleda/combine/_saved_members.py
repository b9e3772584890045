"""Members in model files: each is stored as a model in the header of the combination."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils import Bunch

from arboleda._utils.errors import ModelFormatError
from arboleda.persist import Labels, SavedArray, SavedModel
from arboleda.persist.fields import Sections
from arboleda.persist.model_parts import (
    MODEL_KEYS,
    decode_model,
    decode_template,
    encode_model,
    encode_template,
)
from arboleda.persist.values import decode, encode

__all__ = [
    "FROZEN",
    "FinalPart",
    "MembersPart",
    "OneTarget",
    "TemplatePart",
    "TemplatesPart",
    "Texts",
    "WholeNumber",
]

_DROPPED = "drop"
FROZEN = "frozen"  # a prefitted member, which is stored among the fitted members
_MAX_DEPTH = 4  # nesting of members of members, limited by the length of array names
# Default final estimators of stacks, and the dimensions of their coefficients and intercepts.
_LINEAR: dict[str, Any] = {"LogisticRegression": LogisticRegression, "RidgeCV": RidgeCV}
_COEFFICIENTS = {"LogisticRegression": (2, 1), "RidgeCV": (1, 1)}


class MembersPart:
    """Fitted members by name; "drop" for a dropped member."""

    def encode(self, name: str, value: Any, sections: Sections) -> list[Any]:
        """Return an entry for each member; array names of the i-th member begin with ``mi.``."""
        return [
            [given, _encode_member(member, f"the member {given!r}", sections.within(f"m{number}."))]
            for number, (given, member) in enumerate(value.items())
        ]

    def decode(self, name: str, stored: Any, sections: Sections) -> Bunch:
        """Return the members, each of them checked."""
        members = Bunch()
        for number, (given, entry) in enumerate(_decode_pairs(name, stored)):
            if given in members:
                raise ModelFormatError(f"{name} lists {given!r} twice")
            members[given] = _decode_member(
                f"{name}.{given}", entry, sections.within(f"m{number}.")
            )
        return members


class TemplatesPart:
    """Named unfitted estimators: their classes and parameters."""

    def encode(self, name: str, value: Any, sections: Sections) -> list[Any]:
        """Return an entry for each estimator."""
        return [
            [given, _encode_member_template(member, f"the member {given!r}", sections)]
            for given, member in value
        ]

    def decode(self, name: str, stored: Any, sections: Sections) -> list[tuple[str, Any]]:
        """Return the estimators; the combination replaces "frozen" by fitted members."""
        return [
            (given, _decode_member_template(name, e, sections))
            for given, e in _decode_pairs(name, stored)
        ]


class TemplatePart:
    """An unfitted final estimator, or None."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return its class and its parameters."""
        return (
            None
            if value is None
            else _encode_member_template(value, "the final estimator", sections)
        )

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the estimator."""
        return None if stored is None else _decode_member_template(name, stored, sections)


class FinalPart:
    """The fitted final estimator; its array names begin with ``f.``."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return its entry."""
        return _encode_member(value, "the final estimator", sections.within("f."))

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the estimator, checked."""
        return _decode_member(name, stored, sections.within("f."))


class OneTarget(Labels):
    """Classes of a single target; multilabel classes are not supported in model files."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return the dtype and the values."""
        if isinstance(value, list):
            raise TypeError(
                f"the stack was fitted on {len(value)} labels for each row, and a model file "
                "supports only a single target: save this stack with pickle, joblib or skops, or "
                "save a stack for each label"
            )
        return super().encode(name, value, sections)


class Texts:
    """A list of strings, in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> list[str]:
        """Return the list."""
        return list(value)

    def decode(self, name: str, stored: Any, sections: Sections) -> list[str]:
        """Return the list, checked."""
        if not isinstance(stored, list) or not all(isinstance(text, str) for text in stored):
            raise ModelFormatError(f"{name} is not a list of strings")
        return stored


class WholeNumber:
    """A list of positive integers, in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> list[int]:
        """Return the list."""
        return [int(number) for number in value]

    def decode(self, name: str, stored: Any, sections: Sections) -> list[int]:
        """Return the list, checked."""
        if not isinstance(stored, list) or not all(type(n) is int and n > 0 for n in stored):
            raise ModelFormatError(f"{name} is not a list of positive integers")
        return stored


def _encode_member(member: Any, who: str, sections: Sections) -> Any:
    if isinstance(member, str):
        return _DROPPED
    if isinstance(member, FrozenEstimator):
        return {FROZEN: _encode_member(member.estimator, who, sections)}
    if sections.prefix.count(".") > _MAX_DEPTH:
        raise TypeError(f"{who} is nested too deep for a model file: use fewer levels of members")
    if isinstance(member, SavedModel):
        return encode_model(member, sections)
    if type(member) is _LINEAR.get(type(member).__name__):
        return _encode_linear(member, sections)
    raise _make_foreign_error(member, who)


def _decode_member(name: str, stored: Any, sections: Sections) -> Any:
    if stored == _DROPPED:
        return _DROPPED
    if sections.prefix.count(".") > _MAX_DEPTH:
        raise ModelFormatError(f"{name} is nested too deeply")
    match stored:
        case {"frozen": inner, **rest} if not rest:
            return FrozenEstimator(_decode_member(name, inner, sections))
        case {"linear": str(kind), **rest} if kind in _LINEAR:
            return _decode_linear(name, kind, rest, sections)
        case {"class": _, "parameters": dict(), "fitted": dict(), "columns": list()} if (
            stored.keys() == set(MODEL_KEYS)
        ):
            return decode_model(stored, sections)
    raise ModelFormatError(f"{name} is not a model")


def _encode_member_template(member: Any, who: str, sections: Sections) -> Any:
    if isinstance(member, str):
        return _DROPPED
    if isinstance(member, FrozenEstimator):
        return FROZEN
    if isinstance(member, SavedModel):
        return encode_template(member, sections)
    if type(member) is _LINEAR.get(type(member).__name__):
        return {"linear": type(member).__name__, "parameters": _plain_parameters(member)}
    raise _make_foreign_error(member, who)


def _decode_member_template(name: str, stored: Any, sections: Sections) -> Any:
    match stored:
        case "drop" | "frozen":
            return stored
        case {"linear": str(kind), "parameters": dict(parameters), **rest} if (
            kind in _LINEAR and not rest
        ):
            return _make_linear(name, kind, parameters)
        case {"class": _, "parameters": dict(), **rest} if not rest:
            return decode_template(stored, sections)
    raise ModelFormatError(f"{name} has an entry that is not an estimator")


def _encode_linear(model: Any, sections: Sections) -> dict[str, Any]:
    """Encode one of scikit-learn's linear models by its coefficients and parameters."""
    kind = type(model).__name__
    intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    sections.put_array("coef", np.ascontiguousarray(model.coef_, dtype=np.float64))
    sections.put_array("intercept", intercept)
    entry = {"linear": kind, "parameters": _plain_parameters(model)}
    return entry | ({"classes": model.classes_.tolist()} if hasattr(model, "classes_") else {})


def _decode_linear(name: str, kind: str, stored: Any, sections: Sections) -> Any:
    known = {"parameters", "classes"} if kind == "LogisticRegression" else {"parameters"}
    if stored.keys() != known or not isinstance(stored["parameters"], dict):
        raise ModelFormatError(f"{name} lacks parameters or classes of its linear model")
    model = _make_linear(name, kind, stored["parameters"])
    of_coef, of_intercept = (SavedArray(np.float64, ndim) for ndim in _COEFFICIENTS[kind])
    coef = of_coef.decode("coef", {"array": "coef"}, sections)
    intercept = of_intercept.decode("intercept", {"array": "intercept"}, sections)
    n_rows = len(coef) if coef.ndim == 2 else 1
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()) or len(intercept) != n_rows:
        raise ModelFormatError(f"{name} has invalid coefficients")
    model.coef_, model.n_features_in_ = coef, coef.shape[-1]
    if kind == "RidgeCV":
        model.intercept_ = float(intercept[0])
        return model
    model.intercept_ = intercept
    classes = stored["classes"]
    if not isinstance(classes, list) or not all(type(k) is int and 0 <= k < 2**31 for k in classes):
        raise ModelFormatError(f"{name} has classes that are not class numbers")
    if len(classes) != (n_rows if n_rows > 1 else 2) or sorted(set(classes)) != classes:
        raise ModelFormatError(f"{name} does not have a class for each row of its coefficients")
    model.classes_ = np.array(classes, dtype=np.intp)
    return model


def _plain_parameters(model: Any) -> dict[str, Any]:
    """Encode the parameters of a scikit-learn model, except objects, which are its defaults."""
    encoded = {}
    for name, value in model.get_params(deep=False).items():
        try:
            encoded[name] = encode(value)
        except TypeError:
            continue
    return encoded


def _make_linear(name: str, kind: str, parameters: dict[str, Any]) -> Any:
    model = _LINEAR[kind]()
    if not parameters.keys() <= model.get_params().keys():
        raise ModelFormatError(f"{name} has parameters that a {kind} does not have")
    model.set_params(**{name: decode(value) for name, value in parameters.items()})
    try:
        model._validate_params()
    except ValueError as error:
        raise ModelFormatError(str(error)) from error
    return model


def _decode_pairs(name: str, stored: Any) -> list[tuple[str, Any]]:
    pairs = []
    for pair in stored if isinstance(stored, list) else [None]:
        match pair:
            case [str(given), entry]:
                pairs.append((given, entry))
            case _:
                raise ModelFormatError(f"{name} is not a list of named members")
    return pairs


def _make_foreign_error(member: Any, who: str) -> TypeError:
    kind = type(member)
    return TypeError(
        f"{who} is a {kind.__name__} of {kind.__module__.partition('.')[0]}, and model files "
        "support only arboleda's models with a method save, and scikit-learn's LogisticRegression "
        "and RidgeCV: use such members, or save this combination with pickle, joblib or skops"
    )
