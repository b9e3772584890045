"""Element types and rules of attributes that objects of many classes share."""

import numpy as np

from arboleda.study.artifacts.object_rules.attribute_rules import (
    AnyOf,
    ArrayRule,
    ConstantRule,
    IntegerRule,
    ListOf,
    NumberRule,
    TextRule,
)

__all__ = [
    "BOOL",
    "BY_CLASS",
    "CATEGORIES",
    "CLASSES",
    "COEFFICIENTS",
    "COUNTS",
    "EACH_CLASS",
    "EACH_FEATURE",
    "FLOAT",
    "INT32",
    "INT64",
    "KERNEL",
    "LAYERS",
    "LAYER_OFFSETS",
    "NULL",
    "NUMBERS",
    "N_FEATURES",
    "OFFSET",
    "OPTIONAL_NUMBER",
    "PLACES",
]

FLOAT, INT64, INT32, BOOL = np.float64, np.int64, np.int32, np.bool_

NULL = ConstantRule(None)
NUMBERS = ArrayRule(FLOAT, ("*",))
OPTIONAL_NUMBER = AnyOf(NULL, NumberRule())
COUNTS = AnyOf(NULL, IntegerRule(), ArrayRule((INT64, INT32), ("*",)))

N_FEATURES = IntegerRule(0, size="n_features")
# Indices of columns.
PLACES = ListOf(IntegerRule(0, below="n_features"))
# The classes of a study are coded as integers from 0.
CLASSES = ArrayRule(INT64, ("n_classes",), low=0, is_increasing=True)
EACH_CLASS = ArrayRule(FLOAT, ("n_classes",))
EACH_FEATURE = ArrayRule(FLOAT, ("n_features",))
BY_CLASS = ArrayRule(FLOAT, ("n_classes", "n_features"))
CATEGORIES = ListOf(ArrayRule(FLOAT, ("*",), is_increasing=True), "n_features")

OFFSET = AnyOf(NumberRule(), ArrayRule(FLOAT, (1,)))
COEFFICIENTS = AnyOf(EACH_FEATURE, ArrayRule(FLOAT, (1, "n_features")))
LAYERS = AnyOf(NULL, ListOf(ArrayRule(FLOAT, ("*", "*"))))
LAYER_OFFSETS = AnyOf(NULL, ListOf(ArrayRule(FLOAT, ("*",))))
KERNEL = TextRule("rbf", "linear", "poly", "polynomial", "sigmoid", "cosine", "laplacian")
