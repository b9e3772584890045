"""Members in model files: each as a model of its own, within the header of the combination."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils import Bunch

from arboleda._errors import ModelFormatError
from arboleda.persist import Array as SavedArray
from arboleda.persist import Labels, SavedModel
from arboleda.persist._fields import Sections
from arboleda.persist._model_part import (
    MODEL_KEYS,
    decode_model,
    decode_template,
    encode_model,
    encode_template,
)
from arboleda.persist._values import decode, encode

__all__ = [
    "FROZEN",
    "FinalPart",
    "MembersPart",
    "OneTarget",
    "TemplatePart",
    "TemplatesPart",
    "Texts",
    "Whole",
]

_DROPPED = "drop"
FROZEN = "frozen"  # a member that `fit` takes as it is: what was fitted stands among the members
_DEEPEST = 4  # members of members: names of arrays are short
# What a stack learns with where it is given no final estimator, and the shapes of what it learned.
_LINEAR: dict[str, Any] = {"LogisticRegression": LogisticRegression, "RidgeCV": RidgeCV}
_COEFFICIENTS = {"LogisticRegression": (2, 1), "RidgeCV": (1, 1)}


class MembersPart:
    """Fitted members by name, "drop" for one that was dropped."""

    def encode(self, name: str, value: Any, sections: Sections) -> list[Any]:
        """Return an entry for each; the arrays of the i-th have names that begin with ``mi.``."""
        return [
            [given, _encoded(member, f"the member {given!r}", sections.within(f"m{number}."))]
            for number, (given, member) in enumerate(value.items())
        ]

    def decode(self, name: str, stored: Any, sections: Sections) -> Bunch:
        """Return the members, each checked by itself."""
        members = Bunch()
        for number, (given, entry) in enumerate(_pairs(name, stored)):
            if given in members:
                raise ModelFormatError(f"{name} lists {given!r} twice")
            members[given] = _decoded(f"{name}.{given}", entry, sections.within(f"m{number}."))
        return members


class TemplatesPart:
    """Named estimators as they were given: classes and parameters."""

    def encode(self, name: str, value: Any, sections: Sections) -> list[Any]:
        """Return an entry for each."""
        return [
            [given, _template(member, f"the member {given!r}", sections)] for given, member in value
        ]

    def decode(self, name: str, stored: Any, sections: Sections) -> list[tuple[str, Any]]:
        """Return the estimators; the combination puts fitted ones in the place of "frozen"."""
        return [(given, _from_template(name, e, sections)) for given, e in _pairs(name, stored)]


class TemplatePart:
    """A final estimator as it was given, or None."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return its class and its parameters."""
        return None if value is None else _template(value, "the final estimator", sections)

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the estimator."""
        return None if stored is None else _from_template(name, stored, sections)


class FinalPart:
    """The fitted final estimator; its arrays have names that begin with ``f.``."""

    def encode(self, name: str, value: Any, sections: Sections) -> Any:
        """Return its entry."""
        return _encoded(value, "the final estimator", sections.within("f."))

    def decode(self, name: str, stored: Any, sections: Sections) -> Any:
        """Return the estimator, checked."""
        return _decoded(name, stored, sections.within("f."))


class OneTarget(Labels):
    """Classes of one target; those of several labels for each row have no place in a file."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Return the dtype and the values."""
        if isinstance(value, list):
            raise TypeError(
                f"the stack was fitted on {len(value)} labels for each row, and a model file holds "
                "combinations of one target: keep this one with pickle, joblib or skops, or save "
                "a stack for each label"
            )
        return super().encode(name, value, sections)


class Texts:
    """A list of texts, in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> list[str]:
        """Return the list."""
        return list(value)

    def decode(self, name: str, stored: Any, sections: Sections) -> list[str]:
        """Return the list, checked."""
        if not isinstance(stored, list) or not all(isinstance(text, str) for text in stored):
            raise ModelFormatError(f"{name} is no list of texts")
        return stored


class Whole:
    """A list of whole numbers from 1 up, in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> list[int]:
        """Return the list."""
        return [int(number) for number in value]

    def decode(self, name: str, stored: Any, sections: Sections) -> list[int]:
        """Return the list, checked."""
        if not isinstance(stored, list) or not all(type(n) is int and n > 0 for n in stored):
            raise ModelFormatError(f"{name} is no list of whole numbers")
        return stored


def _encoded(member: Any, who: str, sections: Sections) -> Any:
    if isinstance(member, str):
        return _DROPPED
    if isinstance(member, FrozenEstimator):
        return {FROZEN: _encoded(member.estimator, who, sections)}
    if sections.prefix.count(".") > _DEEPEST:
        raise TypeError(f"{who} is a member of members of members, too deep for a model file")
    if isinstance(member, SavedModel):
        return encode_model(member, sections)
    if type(member) is _LINEAR.get(type(member).__name__):
        return _linear(member, sections)
    raise _foreign(member, who)


def _decoded(name: str, stored: Any, sections: Sections) -> Any:
    if stored == _DROPPED:
        return _DROPPED
    if sections.prefix.count(".") > _DEEPEST:
        raise ModelFormatError(f"{name} is nested too deeply")
    match stored:
        case {"frozen": inner, **rest} if not rest:
            return FrozenEstimator(_decoded(name, inner, sections))
        case {"linear": str(kind), **rest} if kind in _LINEAR:
            return _from_linear(name, kind, rest, sections)
        case {"class": _, "parameters": dict(), "fitted": dict(), "columns": list()} if (
            stored.keys() == set(MODEL_KEYS)
        ):
            return decode_model(stored, sections)
    raise ModelFormatError(f"{name} is no model")


def _template(member: Any, who: str, sections: Sections) -> Any:
    if isinstance(member, str):
        return _DROPPED
    if isinstance(member, FrozenEstimator):
        return FROZEN
    if isinstance(member, SavedModel):
        return encode_template(member, sections)
    if type(member) is _LINEAR.get(type(member).__name__):
        return {"linear": type(member).__name__, "parameters": _plain_parameters(member)}
    raise _foreign(member, who)


def _from_template(name: str, stored: Any, sections: Sections) -> Any:
    match stored:
        case "drop" | "frozen":
            return stored
        case {"linear": str(kind), "parameters": dict(parameters), **rest} if (
            kind in _LINEAR and not rest
        ):
            return _made_linear(name, kind, parameters)
        case {"class": _, "parameters": dict(), **rest} if not rest:
            return decode_template(stored, sections)
    raise ModelFormatError(f"{name} lists what is no estimator")


def _linear(model: Any, sections: Sections) -> dict[str, Any]:
    """Entry of one of scikit-learn's linear models: its coefficients are all that it is."""
    kind = type(model).__name__
    intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    sections.put_array("coef", np.ascontiguousarray(model.coef_, dtype=np.float64))
    sections.put_array("intercept", intercept)
    entry = {"linear": kind, "parameters": _plain_parameters(model)}
    return entry | ({"classes": model.classes_.tolist()} if hasattr(model, "classes_") else {})


def _from_linear(name: str, kind: str, stored: Any, sections: Sections) -> Any:
    known = {"parameters", "classes"} if kind == "LogisticRegression" else {"parameters"}
    if stored.keys() != known or not isinstance(stored["parameters"], dict):
        raise ModelFormatError(f"{name} does not say what its linear model is")
    model = _made_linear(name, kind, stored["parameters"])
    of_coef, of_intercept = (SavedArray(np.float64, ndim) for ndim in _COEFFICIENTS[kind])
    coef = of_coef.decode("coef", {"array": "coef"}, sections)
    intercept = of_intercept.decode("intercept", {"array": "intercept"}, sections)
    n_rows = len(coef) if coef.ndim == 2 else 1
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()) or len(intercept) != n_rows:
        raise ModelFormatError(f"{name} has coefficients that are none")
    model.coef_, model.n_features_in_ = coef, coef.shape[-1]
    if kind == "RidgeCV":
        model.intercept_ = float(intercept[0])
        return model
    model.intercept_ = intercept
    classes = stored["classes"]
    if not isinstance(classes, list) or not all(type(k) is int and 0 <= k < 2**31 for k in classes):
        raise ModelFormatError(f"{name} knows classes that are no numbers")
    if len(classes) != (n_rows if n_rows > 1 else 2) or sorted(set(classes)) != classes:
        raise ModelFormatError(f"{name} does not know a class for each row of its coefficients")
    model.classes_ = np.array(classes, dtype=np.intp)
    return model


def _plain_parameters(model: Any) -> dict[str, Any]:
    """Parameters of one of scikit-learn's models; objects are left out: they are its defaults."""
    found = {}
    for name, value in model.get_params(deep=False).items():
        try:
            found[name] = encode(value)
        except TypeError:
            continue
    return found


def _made_linear(name: str, kind: str, parameters: dict[str, Any]) -> Any:
    model = _LINEAR[kind]()
    if not parameters.keys() <= model.get_params().keys():
        raise ModelFormatError(f"{name} has parameters that a {kind} does not have")
    model.set_params(**{name: decode(value) for name, value in parameters.items()})
    try:
        model._validate_params()
    except ValueError as error:
        raise ModelFormatError(str(error)) from error
    return model


def _pairs(name: str, stored: Any) -> list[tuple[str, Any]]:
    pairs = []
    for pair in stored if isinstance(stored, list) else [None]:
        match pair:
            case [str(given), entry]:
                pairs.append((given, entry))
            case _:
                raise ModelFormatError(f"{name} is no list of members with their names")
    return pairs


def _foreign(member: Any, who: str) -> TypeError:
    kind = type(member)
    return TypeError(
        f"{who} is a {kind.__name__} of {kind.__module__.partition('.')[0]}, and a model file "
        "holds models of arboleda that have a method save, and scikit-learn's LogisticRegression "
        "and RidgeCV: use such members, or pickle, joblib or skops for this combination"
    )
