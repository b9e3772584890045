"""Validation of the arguments of `fit`, shared by trees and forests."""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_consistent_length

from arboleda._base.fitted import check_fitted
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.coded_table import CodedTable
from arboleda._engine.column_options import read_monotonic_cst
from arboleda._engine.columns import Schema
from arboleda._engine.fit import BinnedDataset
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.shared_binning import SharedBinning
from arboleda._engine.table import DenseTable, SparseTable, check_table
from arboleda._engine.target import check_total_weight, read_target, read_weight
from arboleda.persist import Field, Integer, SavedArray, SavedModel

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
CategoricalFeatures = Sequence[bool | int | str] | Array | Literal["from_dtype"] | None
MaxFeatures = int | float | Literal["sqrt", "log2"] | None


@dataclass(frozen=True)
class Training:
    """Validated and binned training data, with threads and seed."""

    X: DenseTable | SparseTable
    table: BinnedDataset
    target: Array
    weight: Floats | None
    n_threads: int
    seed: int
    n_rows: int | None = None  # base of parameters that are fractions; None: all rows
    shards: AllShards = ALONE  # of the table, whose rows in this one X, table, target, weight have

    @property
    def full_weight(self) -> Floats:
        """Weight of every row, scaled by a power of two so that the largest is about 1."""
        if self.weight is None:
            return np.ones(self.table.n_rows)
        scaled: Floats = np.ldexp(self.weight, -int(np.frexp(self.weight.max())[1]))
        return scaled


class TreeLearner(NamesOtherParameters, SavedModel, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base class of estimators that grow trees: parameters and input validation."""

    _uses_binned_data = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "random_state": ["random_state"],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "max_bins": [Interval(Integral, 2, None, closed="left"), None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "n_jobs": [Integral, None],
        "monotonic_cst": ["array-like", dict, None],
    }

    _supports_multi_output: ClassVar[bool] = True
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        "max_features_": Integer(1),
        "missing_columns_": SavedArray(np.int64),
        "n_outputs_": Integer(1),
    }

    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: MaxFeatures
    random_state: int | np.random.RandomState | None
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    ccp_alpha: float
    max_bins: int | None
    categorical_features: CategoricalFeatures
    n_jobs: int | None
    monotonic_cst: Any = None  # default for estimators without this parameter
    n_features_in_: int
    missing_columns_: npt.NDArray[np.int64]
    n_outputs_: int
    schema_: Schema

    @abstractmethod
    def _encode_target(self, y: Array) -> Array:
        """Check y, set the attributes for predictions, and return y in the engine's encoding."""

    @abstractmethod
    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        """Return the weight of every row."""

    @abstractmethod
    def _value_widths(self) -> tuple[int, ...]:
        """Return the number of values that a leaf holds for each output."""

    def _value_width(self) -> int:
        """Return the number of values that a leaf holds."""
        return sum(self._value_widths())

    def _training(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, reader: Any = None
    ) -> Training:
        """Validate the arguments of `fit`; `reset` sets the columns from them.

        The reader is the estimator named in messages about the table; its columns are set as well.
        None: self.
        """
        self._validate_params()
        reader = self if reader is None else reader
        once = X if isinstance(X, SharedBinning) else None
        if once is not None:
            table = once.table_for(reader)
        else:
            kinds = self.categorical_features
            table = check_table(reader, X, reset=reset, categorical_features=kinds)
        for name in ("n_features_in_", "feature_names_in_", "schema_"):
            if hasattr(reader, name):
                setattr(self, name, getattr(reader, name))
        target = self._encode_target(read_target(y, numeric=is_regressor(self)))
        check_consistent_length(table, target)
        weight = self._target_weight(target, read_weight(sample_weight, table))
        check_total_weight(weight)
        n_threads = resolve_n_jobs(self.n_jobs)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        coded = (
            table.code(n_threads, self.max_bins)
            if once is None
            else once.code(table, n_threads, self.max_bins)
        )
        self.missing_columns_ = coded.missing_columns()
        return Training(table, coded, target, weight, n_threads, seed)

    def _growth_limits(self, n_rows: int) -> dict[str, Any]:
        """Return the parameters in the engine's units: rows instead of fractions."""
        min_samples_leaf = resolve_row_count(self.min_samples_leaf, n_rows)
        min_samples_split = max(2, resolve_row_count(self.min_samples_split, n_rows))
        self.max_features_: int = resolve_max_features(self.max_features, self.n_features_in_)
        return {
            "max_depth": -1 if self.max_depth is None else min(self.max_depth, 2**31 - 1),
            "max_leaf_nodes": (
                -1 if self.max_leaf_nodes is None else min(self.max_leaf_nodes, n_rows)
            ),
            "min_samples_split": max(min_samples_split, 2 * min_samples_leaf),
            "min_samples_leaf": min_samples_leaf,
            "min_weight_fraction_leaf": self.min_weight_fraction_leaf,
            "min_impurity_decrease": self.min_impurity_decrease,
            "max_features": self.max_features_,
            "monotonic": self._directions(),
        }

    def _directions(self) -> list[int]:
        """Return the monotonic constraints of the columns; empty if there are none."""
        directions = read_monotonic_cst(self.monotonic_cst, self.schema_, type(self).__name__)
        if directions and self.n_outputs_ > 1:
            raise ValueError(
                f"monotonic_cst is given for {self.n_outputs_} targets: Monotonicity constraints "
                "are not supported with multiple outputs; fit one estimator per target"
            )
        return directions

    def _defect(self) -> str | None:
        if not np.isin(self.missing_columns_, np.arange(self.n_features_in_)).all():
            return "missing_columns_ contains columns that do not exist"
        return None

    def _has_several_outputs(self, y: Any) -> bool:
        """Return whether the target has several columns and the estimator supports them."""
        shape: tuple[int, ...] = getattr(y, "shape", ())
        return self._supports_multi_output and len(shape) == 2 and shape[1] > 1

    def _check_input(self, X: Any) -> DenseTable | SparseTable:
        check_fitted(self)
        if isinstance(X, CodedTable):
            X._file_rows.refuse()
        return check_table(self, X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = self._supports_multi_output
        return tags


# Parameters of the growth of a tree that single trees, forests and gradient boosting share.
_GROWTH_PARAMETERS = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "max_bins",
    "n_jobs",
)


def get_growth_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters of a model that are also those of a single tree."""
    return {name: getattr(model, name) for name in _GROWTH_PARAMETERS}


def resolve_row_count(count: int | float, n_rows: int) -> int:
    """Return the number of rows of a parameter that is a count or a fraction."""
    # Larger counts are equivalent to n_rows + 1, which fits the engine's integers.
    if isinstance(count, int | np.integer):
        return min(int(count), n_rows + 1)
    return math.ceil(count * n_rows)


def resolve_max_features(max_features: MaxFeatures, n_features: int) -> int:
    """Return the number of columns drawn at a node."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, int | np.integer):
        return min(int(max_features), n_features)
    return max(1, int(float(max_features) * n_features))
