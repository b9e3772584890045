"""Isolation forests: Liu, Ting, Zhou (2008); Hariri, Carrasco Kind, Brunner (2019)."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.fitted import check_fitted
from arboleda._base.mixins import LazySequence, restore_on_failure
from arboleda._base.parameter_names import NamesOtherParameters, name_other_arguments
from arboleda._base.tree_learner import CategoricalFeatures, Floats, resolve_max_features
from arboleda._engine.columns import Schema
from arboleda._engine.forest import Forest as Trees
from arboleda._engine.isolation import (
    HYPERPLANE_ARRAYS,
    HyperplaneForest,
    IsolationOptions,
    fit_isolation_forest,
    mean_path_length,
)
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.table import DenseTable, SparseTable, check_table
from arboleda._engine.target import check_total_weight, read_weight
from arboleda._utils.errors import ModelFormatError
from arboleda._utils.number_types import is_integer
from arboleda._utils.sparse import check_sparse
from arboleda.persist import Field, ForestPart, Integer, Maybe, Number, SavedArray, SavedModel
from arboleda.tree import DecisionTreeRegressor

Integers = npt.NDArray[np.int64]
Table = DenseTable | SparseTable


class HyperplanesField:
    """Field of a model file for trees of hyperplanes: two sizes and seven arrays."""

    def encode(self, name: str, value: HyperplaneForest, sections: Any) -> dict[str, Any]:
        """Return the header entry; the arrays go to the sections."""
        arrays = {
            part: SavedArray(HYPERPLANE_ARRAYS[part]).encode(f"{name}.{part}", array, sections)
            for part, array in value.arrays.items()
        }
        return {"n_features": value.n_features, "n_terms": value.n_terms, "arrays": arrays}

    def decode(self, name: str, stored: Any, sections: Any) -> HyperplaneForest:
        """Return the validated trees."""
        match stored:
            case {"n_features": int(p), "n_terms": int(n_terms), "arrays": dict(parts), **rest} if (
                not rest and 0 < p < 2**31 and 0 < n_terms < 2**31
            ):
                pass
            case _:
                raise ModelFormatError(f"{name} does not hold trees of hyperplanes")
        if parts.keys() != HYPERPLANE_ARRAYS.keys():
            raise ModelFormatError(f"{name} does not hold the arrays of trees of hyperplanes")
        arrays = {
            part: SavedArray(dtype).decode(f"{name}.{part}", parts[part], sections)
            for part, dtype in HYPERPLANE_ARRAYS.items()
        }
        try:
            return HyperplaneForest.from_arrays(p, n_terms, arrays)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error


class IsolationForest(OutlierMixin, NamesOtherParameters, SavedModel, BaseEstimator):  # type: ignore[misc]
    """Isolation forest: finds unusual rows, which few random splits part from the others.

    Each tree draws ``max_samples`` rows and splits them at random: a column drawn from those that
    vary in the node, at a threshold uniform between its smallest and its largest value there, until
    every row is alone or the depth is the logarithm to base 2 of the rows drawn, rounded up. The
    score of a row is ``-2 ** (-h / c)`` with its mean path length h over the trees and the mean
    path length c of a tree of ``max_samples`` rows: near -1 for outliers, above -0.5 for usual
    rows. The names, defaults and meaning of the parameters are scikit-learn's, but for
    ``extension_level`` and ``categorical_features``.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_samples : "auto", int or float, default="auto"
        Rows drawn for each tree; a float is a fraction. "auto": 256, or all of fewer rows.
    contamination : "auto" or float, default="auto"
        Share of outliers in the training rows, above 0 and at most 0.5: `predict` finds as many
        there. "auto": rows of a score below -0.5 are outliers.
    max_features : int or float, default=1.0
        Columns drawn for each tree; a float is a fraction.
    bootstrap : bool, default=False
        Whether the rows of a tree are drawn with replacement.
    n_jobs : int, default=None
        Number of threads of `fit` and of predictions; None and -1 mean all available cores. The
        result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; those of tree i do not depend on the number of trees or threads.
    verbose : int, default=0
        1 prints progress about ten times, 2 after every tree.
    warm_start : bool, default=False
        Keep the trees of the last fit and add trees up to ``n_estimators``. On the same data this
        gives the same forest as a single fit, byte for byte.
    extension_level : int, default=0
        0: nodes split by one column. More: the extended isolation forest, whose nodes split by
        random hyperplanes of ``extension_level + 1`` columns; at most the number of columns drawn
        for a tree, less 1. It finds outliers between clusters along the axes better. Scale the
        columns alike first: the normal of a hyperplane has the same spread in all of them.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        See `DecisionTreeClassifier`. A random half of the categories in a node goes left.
        Categories require ``extension_level=0``.

    Attributes
    ----------
    offset_ : float
        Threshold: rows of a lower score are outliers.
    max_samples_ : int
        Rows drawn for each tree.
    max_features_ : int
        Columns drawn for each tree.
    estimators_ : sequence of DecisionTreeRegressor
        The trees, created on access; they predict path lengths. Not for ``extension_level > 0``.
    estimators_samples_ : sequence of ndarray of int
        Training rows of each tree, ascending, with repeats; drawn again on access.
    estimators_features_ : sequence of ndarray of int
        Columns of each tree.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.

    See Also
    --------
    arboleda.explain.shap_values : Contribution of each column to the mean path length.

    Notes
    -----
    The path length of a leaf of n rows at depth e is ``e + c(n)``, where c(n) is the mean path
    length of an unsuccessful search in a binary tree of n keys: ``2 H(n - 1) - 2 (n - 1) / n`` with
    H(i) = ln(i) + 0.5772156649, c(2) = 1 and c(1) = 0.

    A missing value, or a category that was not seen in the node, goes to the side with more of the
    rows that are not missing: it isolates no row by itself. In a hyperplane it counts as the value
    of the point through which the plane was drawn.

    Differences from scikit-learn: X is compared as float64 (not float32); ``n_jobs`` is also used
    by predictions, and ``n_jobs=None`` means all cores; more columns than there are in
    ``max_features`` mean all.

    References
    ----------
    F. T. Liu, K. M. Ting, Z.-H. Zhou (2008), "Isolation forest", ICDM.

    S. Hariri, M. Carrasco Kind, R. J. Brunner (2019), "Extended isolation forest", IEEE
    Transactions on Knowledge and Data Engineering 33.

    Examples
    --------
    >>> from arboleda import IsolationForest
    >>> X = [[-1.1], [0.3], [0.5], [100.0]]
    >>> IsolationForest(random_state=0).fit(X).predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, 2**24, closed="both")],
        "max_samples": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0.0, 0.5, closed="right")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="right"),
        ],
        "bootstrap": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "extension_level": [Interval(Integral, 0, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        "forest_": Maybe(ForestPart()),
        "hyperplanes_": Maybe(HyperplanesField()),
        "offset_": Number(),
        "max_samples_": Integer(1),
        "max_features_": Integer(1),
        "seed_": Integer(),
        "_n_rows": Integer(),
        "_row_weight": Maybe(SavedArray(np.float64)),
    }

    forest_: Trees | None = None
    hyperplanes_: HyperplaneForest | None = None
    offset_: float
    max_samples_: int
    max_features_: int
    seed_: int
    n_features_in_: int
    schema_: Schema
    _n_rows: int  # of the table; 0 if several fits used different tables
    _row_weight: Floats | None = None

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: int | float | Literal["auto"] = "auto",
        contamination: float | Literal["auto"] = "auto",
        max_features: int | float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        extension_level: int = 0,
        categorical_features: CategoricalFeatures = "from_dtype",
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples: int | float | Literal["auto"] = max_samples
        self.contamination: float | Literal["auto"] = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.extension_level = extension_level
        self.categorical_features: CategoricalFeatures = categorical_features

    # Fitting

    @name_other_arguments
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the trees from a table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table in any container: NumPy, pandas, polars, Arrow, lists, sparse matrices.
        y : ignored
            Present for the interface of scikit-learn.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights: rows are drawn with probability in proportion to them.
            None: every row has the same.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X has infinite values or text in a numeric column, the
            weights are negative or all zero, or categories meet hyperplanes. The estimator is then
            unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            check_sparse(y, "y")  # ignored, but a damaged matrix is a mistake
            previous = copy.copy(self) if self.warm_start and hasattr(self, "offset_") else None
            table = check_table(
                self, X, reset=previous is None, categorical_features=self.categorical_features
            )
            weight = read_weight(sample_weight, table)
            check_total_weight(weight)
            if weight is not None and (weight == weight[0]).all():
                weight = None
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            if previous is None:
                self.seed_ = seed
            self._set_sizes(table, weight)
            self._check_extension()
            self._grow(table, weight, previous)
            self.offset_ = -0.5
            if self.contamination != "auto":
                scores = self._compute_scores(table)
                self.offset_ = float(np.percentile(scores, 100.0 * self.contamination))
        return self

    def _set_sizes(self, table: Table, weight: Floats | None) -> None:
        n_rows = table.n_rows
        n_drawn: int | float = 256 if self.max_samples == "auto" else self.max_samples
        if not is_integer(n_drawn):
            n_drawn = max(1, int(n_drawn * n_rows))
        elif n_drawn > n_rows and self.max_samples != "auto":
            warnings.warn(
                f"max_samples ({n_drawn}) is greater than the total number of samples ({n_rows}). "
                "max_samples will be set to n_samples for estimation.",
                stacklevel=4,
            )
        if weight is not None and not self.bootstrap:
            n_rows = int(np.count_nonzero(weight))
        self.max_samples_ = int(min(n_drawn, n_rows))
        self.max_features_ = resolve_max_features(self.max_features, table.n_columns)

    def _check_extension(self) -> None:
        if self.extension_level >= self.max_features_ and self.extension_level > 0:
            raise ValueError(
                f"extension_level={self.extension_level} splits by hyperplanes of "
                f"{self.extension_level + 1} columns, but a tree has {self.max_features_}: set it "
                f"to {self.max_features_ - 1} or less"
            )
        if self.extension_level > 0 and not self.schema_.is_numeric:
            column = self.schema_.kinds.index("categorical")
            raise ValueError(
                f"extension_level={self.extension_level} splits by hyperplanes, which categories "
                f"have no place in, and column {self.schema_.describe(column)} is categorical: set "
                "extension_level=0, or encode the categories as numbers"
            )

    def _make_options(self, first: int, n_trees: int) -> IsolationOptions:
        return IsolationOptions(
            n_trees=n_trees,
            first_tree=first,
            n_drawn=self.max_samples_,
            with_replacement=self.bootstrap,
            n_columns=self.max_features_,
            n_terms=self.extension_level + 1,
        )

    def _grow(self, table: Table, weight: Floats | None, previous: Self | None) -> None:
        trees: Any = None
        self._n_rows, self._row_weight = table.n_rows, weight
        if previous is not None:
            trees = self._continue(table, weight, previous)
        first = 0 if trees is None else trees.n_trees
        n_new = self.n_estimators - first
        step = n_new if not self.verbose else 1 if self.verbose > 1 else max(1, n_new // 10)
        for begin in range(first, self.n_estimators, max(step, 1)):
            n_trees = min(step, self.n_estimators - begin)
            more: Any = fit_isolation_forest(
                table,
                weight,
                self._make_options(begin, n_trees),
                n_terms=self.extension_level + 1,
                n_threads=resolve_n_jobs(self.n_jobs),
                seed=self.seed_,
            )
            trees = more if trees is None else trees.extended(more)
            if self.verbose:
                sys.stdout.write(f"tree {begin + n_trees} of {self.n_estimators}\n")
        self.forest_ = trees if isinstance(trees, Trees) else None
        self.hyperplanes_ = trees if isinstance(trees, HyperplaneForest) else None

    def _continue(self, table: Table, weight: Floats | None, previous: Self) -> Any:
        """Return the trees of the previous fit."""
        trees: Any = previous._trees
        names = ("max_samples_", "max_features_")
        changed = [name for name in names if getattr(self, name) != getattr(previous, name)]
        n_terms = 1 if isinstance(trees, Trees) else trees.n_terms
        if n_terms != self.extension_level + 1:
            changed.append("extension_level")
        if changed:
            raise ValueError(
                f"warm_start=True adds trees to those of an earlier fit with another "
                f"{' and '.join(changed)}: fit a clone"
            )
        if self.n_estimators < trees.n_trees:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger than or equal to the "
                f"{trees.n_trees} trees of the forest when warm_start==True: increase it, or fit a "
                "clone"
            )
        if self.n_estimators == trees.n_trees:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=5,
            )
        same_weight = np.array_equal(
            np.empty(0) if weight is None else weight,
            np.empty(0) if previous._row_weight is None else previous._row_weight,
        )
        if previous._n_rows != table.n_rows or not same_weight:
            self._n_rows, self._row_weight = 0, None
        return trees

    # Predictions

    @property
    def _trees(self) -> Trees | HyperplaneForest:
        trees = self.forest_ if self.forest_ is not None else self.hyperplanes_
        assert trees is not None
        return trees

    def _check_input(self, X: Any) -> Table:
        check_fitted(self)
        return check_table(self, X, reset=False)

    def _compute_path_lengths(self, table: Table) -> Floats:
        n_threads = resolve_threads(table, self.n_jobs)
        if self.forest_ is not None:
            return self.forest_.votes(table, "soft", n_threads)[:, 0]
        assert self.hyperplanes_ is not None
        return self.hyperplanes_.mean_lengths(table, n_threads)

    def _compute_scores(self, table: Table) -> Floats:
        length = mean_path_length(self.max_samples_)
        if length == 0.0:  # trees of one row isolate nothing
            return np.full(table.n_rows, -0.5)
        scores: Floats = -np.exp2(-self._compute_path_lengths(table) / length)
        return scores

    def score_samples(self, X: Any) -> Floats:
        """Compute the opposite of the anomaly score of Liu, Ting, Zhou (2008), equation 2.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Between -1 and 0; the lower, the more unusual.
        """
        return self._compute_scores(self._check_input(X))

    def decision_function(self, X: Any) -> Floats:
        """Compute `score_samples` less ``offset_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Negative for outliers.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Integers:
        """Predict whether rows are outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        is_inlier : ndarray of shape (n_samples,)
            -1 for outliers, 1 for other rows.
        """
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    # Members

    @property
    def n_estimators_(self) -> int:
        """Number of trees."""
        check_is_fitted(self)
        return self._trees.n_trees

    @property
    def estimators_(self) -> Sequence[DecisionTreeRegressor]:
        """The trees as regression trees of the path length, created on access."""
        check_is_fitted(self)
        if self.forest_ is None:
            raise AttributeError(
                "trees that split by hyperplanes (extension_level > 0) are no decision trees: use "
                "score_samples, or fit with extension_level=0"
            )
        return LazySequence(self._member, self.forest_.n_trees)

    def _member(self, number: int) -> DecisionTreeRegressor:
        assert self.forest_ is not None
        tree = DecisionTreeRegressor(splitter="random", max_features=1)
        for name in ("schema_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree.max_features_ = tree.n_outputs_ = 1
        tree.missing_columns_ = np.arange(self.n_features_in_)
        tree.tree_ = self.forest_.tree(number)
        return tree

    @property
    def estimators_samples_(self) -> Sequence[Integers]:
        """Training rows of each tree, ascending, with repeats; drawn again on access."""
        check_is_fitted(self)
        if not self._n_rows:
            raise ValueError(
                "the trees of this forest were fitted on different tables (warm_start=True), so "
                "their rows are unknown: fit a clone"
            )
        options = self._make_options(0, self.n_estimators_)

        def draw(number: int) -> Integers:
            rows = options.draw_rows(self._n_rows, self._row_weight, number, self.seed_)
            return rows.astype(np.int64)

        return LazySequence(draw, self.n_estimators_)

    @property
    def estimators_features_(self) -> Sequence[Integers]:
        """Columns of each tree, ascending; drawn again on access."""
        check_is_fitted(self)
        options = self._make_options(0, self.n_estimators_)

        def draw(number: int) -> Integers:
            columns = options.draw_columns(self.n_features_in_, number, self.seed_)
            return columns.astype(np.int64)

        return LazySequence(draw, self.n_estimators_)

    def _defect(self) -> str | None:
        trees = self.forest_ if self.forest_ is not None else self.hyperplanes_
        if trees is None or (self.forest_ is not None and self.hyperplanes_ is not None):
            return "an isolation forest has trees of one kind"
        if trees.n_features != self.schema_.n_columns or self.max_features_ > trees.n_features:
            return "the trees were fitted on a different number of columns than the header lists"
        if self._row_weight is not None and len(self._row_weight) != self._n_rows:
            return "there is not one weight for each row"
        if self.forest_ is None:
            return None if self.schema_.is_numeric else "hyperplanes have no categorical columns"
        if self.forest_.widths != (1,):
            return "the leaves hold a different number of values than the header implies"
        return self.forest_.defect(self.schema_.n_levels)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
