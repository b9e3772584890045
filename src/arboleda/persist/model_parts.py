"""Encoding of fitted models as header entries, and the registry of their classes."""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module
from typing import Any

from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_is_fitted

from arboleda._utils.errors import ModelFormatError
from arboleda.persist.fields import Field, Maybe, Sections
from arboleda.persist.values import decode, decode_columns, encode, encode_columns

__all__ = ["MODEL_KEYS", "decode_model", "decode_template", "encode_model", "encode_template"]

# The classes that model files support.
_CLASSES = frozenset(
    {
        "AdaBoostClassifier",
        "AdaBoostM1",
        "AdaBoostM2",
        "AdaBoostMH",
        "AdaBoostMR",
        "AdaBoostR",
        "AdaBoostR2",
        "AdaBoostRegressor",
        "BARTClassifier",
        "BARTRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "BalancedRandomForestClassifier",
        "BayesianModelAveragingClassifier",
        "BayesianModelAveragingRegressor",
        "BoostingClassifier",
        "BoostingRegressor",
        "ClassSwitchingClassifier",
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "DistributionalBoostingRegressor",
        "EnsembleSelectionClassifier",
        "EnsembleSelectionRegressor",
        "ExtraSurvivalTrees",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "GentleBoost",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "HistGradientBoostingClassifier",
        "HistGradientBoostingRanker",
        "HistGradientBoostingRegressor",
        "HistGradientBoostingSurvival",
        "IsolationForest",
        "LogitBoost",
        "MajorityVoteWithReject",
        "MedianRule",
        "NaiveBayesCombiner",
        "PastingClassifier",
        "PastingRegressor",
        "ProductRule",
        "PrunedTreeClassifier",
        "PrunedTreeRegressor",
        "QuantileRegressionForest",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "RandomPatchesClassifier",
        "RandomPatchesRegressor",
        "RandomSubspaceClassifier",
        "RandomSubspaceRegressor",
        "RandomSurvivalForest",
        "RealAdaBoost",
        "SAMME",
        "StackingClassifier",
        "StackingRegressor",
        "SurvivalTree",
        "VotingClassifier",
        "VotingRegressor",
        "WeightedMajorityVote",
    }
)


def get_class_name(model: object) -> str:
    """Return the name of a model's class in files.

    Raises
    ------
    TypeError
        If it is not a class of this library, for example a subclass of one.
    """
    name = type(model).__name__
    if name not in _CLASSES or find_class(name) is not type(model):
        raise TypeError(
            f"{type(model).__module__}.{name} cannot be saved: model files support the classes of "
            "arboleda, not their subclasses"
        )
    return name


def find_class(name: object) -> Any:
    """Return the class of a name.

    Raises
    ------
    ModelFormatError
        If the name is not registered.
    """
    if not isinstance(name, str) or name not in _CLASSES:
        raise ModelFormatError("the header names a class that is unknown to this version")
    # Imported on first use, because the estimators depend on this package.
    return getattr(import_module("arboleda"), name)


MODEL_KEYS = ("class", "parameters", "fitted", "columns")
_STACK_LEVEL = 6  # warnings point at the caller of `save`


def encode_model(model: Any, sections: Sections) -> dict[str, Any]:
    """Return the header entries of a fitted model; trees and arrays go to the sections."""
    get_class_name(model)  # raises for classes that cannot be saved, before any other error
    check_is_fitted(model)
    model._validate_params()
    # Errors about members come before warnings about parameters.
    fitted = {
        attribute: _encode_attribute(field, attribute, model, sections)
        for attribute, field in model._fitted_attributes.items()
    }
    columns = encode_columns(model.schema_) if model._has_columns else []
    return {**encode_template(model, sections), "fitted": fitted, "columns": columns}


def decode_model(stored: dict[str, Any], sections: Sections) -> Any:
    """Create the model.

    Raises
    ------
    ModelFormatError
        If the class is unknown to this version, or the attributes are inconsistent.
    """
    model = decode_template(stored, sections)
    if model._has_columns:
        decode_columns(stored["columns"], model)
    elif stored["columns"]:
        raise ModelFormatError(
            f"a {type(model).__name__} has no columns except those of its members"
        )
    fields = model._fitted_attributes
    if stored["fitted"].keys() != fields.keys():
        raise ModelFormatError(
            f"the header has the attributes {sorted(stored['fitted'])}, but the model has "
            f"{sorted(fields)}"
        )
    for name, field in fields.items():
        value = field.decode(name, stored["fitted"][name], sections)
        if value is not None or not isinstance(field, Maybe):
            setattr(model, name, value)
    defect = model._defect()
    if defect is not None:
        raise ModelFormatError(defect)
    return model


def encode_template(model: Any, sections: Sections) -> dict[str, Any]:
    """Return the class and the parameters of a model."""
    return {"class": get_class_name(model), "parameters": _encode_parameters(model, sections)}


def decode_template(stored: dict[str, Any], sections: Sections) -> Any:
    """Create an estimator from stored parameters; missing parameters have their defaults."""
    model_class = find_class(stored["class"])
    fields = model_class._saved_parameters
    parameters = {}
    for name, value in stored["parameters"].items():
        if name not in model_class._get_param_names():
            raise ModelFormatError(
                f"{model_class.__name__} has no parameter {name!r} in this version"
            )
        given = fields[name].decode(name, value, sections) if name in fields else decode(value)
        parameters[name] = given
    if not fields.keys() <= parameters.keys():
        raise ModelFormatError(f"the parameters of the header must include {sorted(fields)}")
    model = model_class(**parameters)
    try:
        model._validate_params()
    except InvalidParameterError as error:
        raise ModelFormatError(str(error)) from error
    return model


def _encode_attribute(field: Field, name: str, model: Any, sections: Sections) -> Any:
    if isinstance(field, Maybe) and not hasattr(model, name):
        return None
    try:
        return field.encode(name, getattr(model, name), sections)
    except TypeError as error:
        raise TypeError(f"{name} cannot be saved: {error}") from error


def _encode_parameters(model: Any, sections: Sections) -> dict[str, Any]:
    """Return the parameters as plain data; objects are replaced by the default, with a warning."""
    parameters: dict[str, Any] = {}
    fields = model._saved_parameters
    for name, value in model.get_params(deep=False).items():
        if name in fields:
            parameters[name] = fields[name].encode(name, value, sections)
            continue
        try:
            parameters[name] = encode(value)
        except TypeError as error:
            default = inspect.signature(type(model)).parameters[name].default
            warnings.warn(
                f"{name} is not saved, because {error}; model files support numbers, texts, and "
                f"lists and dicts of them. The loaded model predicts the same, with {name}="
                f"{default!r}; set {name} before refitting it",
                stacklevel=_STACK_LEVEL,
            )
            parameters[name] = encode(default)
    return parameters
