"""A forest as a weighted neighbourhood of its training rows.

Lin and Jeon (2006), "Random forests and adaptive nearest neighbors"; Breiman (2001), "Random
forests"; Meinshausen (2006), "Quantile regression forests".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted, column_or_1d

from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.fit import FittedRows, ForestOptions
from arboleda._engine.forest import Forest
from arboleda._engine.neighborhood import Neighborhood, Proximity, squared_proximities
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.target import read_target
from arboleda._utils.number_types import is_real
from arboleda.forest._proximity import compute_outlier_scores, impute_by_proximity
from arboleda.forest._training_rows import Bags, KeptRows

Floats = npt.NDArray[np.float64]


class NeighborhoodMixin:
    """Mixin of forests with methods based on proximities of rows."""

    forest_: Forest
    kept_: KeptRows | None  # None if not kept, or if several fits used different rows
    n_jobs: int | None
    _bags: Bags | None

    if TYPE_CHECKING:

        def _check_input(self, X: Any) -> DenseTable | SparseTable: ...

        def _value_widths(self) -> tuple[int, ...]: ...

    def neighbor_weights(self, X: Any) -> csr_matrix:
        """Compute the weight of each training row in the prediction of each row.

        The prediction of a forest is a weighted mean of training targets: in every tree, the rows
        of the leaf share a weight of 1 in proportion to how often they were drawn into the tree's
        bag (times their sample weight), and the weights are averaged over the trees. With y the
        training targets, ``neighbor_weights(X) @ y`` is the prediction of a regressor, up to
        rounding; with the classes as columns of 0 and 1 it is ``predict_proba`` of a classifier
        with soft voting.

        With ``monotonic_cst`` a leaf predicts the mean of its rows clipped to the bounds set by the
        splits above it. The weights are still those of the rows: ``neighbor_weights(X) @ y`` is the
        prediction before clipping, which differs if a leaf's mean is outside its bounds, and may
        violate the monotonic constraint. With ``criterion="absolute_error"`` leaves predict
        medians, so the weighted mean differs there, too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        weights : sparse matrix of shape (n_samples, n_training_rows)
            Non-negative; every row sums to 1.

        Raises
        ------
        ValueError
            If the forest was fitted with ``keep_rows=False``.

        Examples
        --------
        >>> from arboleda import RandomForestRegressor
        >>> X, y = [[1], [2], [3], [9]], [1.0, 2.0, 3.0, 9.0]
        >>> forest = RandomForestRegressor(keep_rows=True, random_state=0).fit(X, y)
        >>> weights = forest.neighbor_weights([[2.2]])
        >>> bool(abs(weights @ y - forest.predict([[2.2]])) < 1e-12)
        True
        """
        table = self._check_input(X)
        return self._neighborhood("neighbor_weights").weights(table)

    def proximity(self, X: Any, Y: Any = None, *, out_of_bag: bool = False) -> csr_matrix:
        """Compute the share of trees in which two rows reach the same leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        Y : array-like of shape (n_others, n_features), default=None
            The rows to compare X with. None: X itself.
        out_of_bag : bool, default=False
            Count only the trees for which both rows are out of bag, as fully grown trees separate
            their training rows from each other. X must then be the rows of `fit`, in their order,
            and the forest must have been fitted with ``keep_rows=True``.

        Returns
        -------
        proximity : sparse matrix of shape (n_samples, n_others)
            From 0 to 1. The proximity of a row to itself is 1 if any tree counts.

        Raises
        ------
        ValueError
            If ``out_of_bag`` is set and X is not the rows of `fit`, or the forest was fitted with
            ``keep_rows=False`` or ``bootstrap=False``.

        Notes
        -----
        Two rows that share no leaf take no memory. For many rows, compute some at a time:
        ``proximity(X[:1000], X)``.

        Examples
        --------
        >>> from arboleda import RandomForestClassifier
        >>> X, y = [[1], [2], [8], [9]], [0, 0, 1, 1]
        >>> forest = RandomForestClassifier(max_depth=1, random_state=0).fit(X, y)
        >>> near = forest.proximity(X).toarray()
        >>> bool(near[0, 1] > near[0, 2]), float(near[0, 0])
        (True, 1.0)
        """
        table = self._check_input(X)
        if not out_of_bag:
            others = table if Y is None else self._check_input(Y)
            return Proximity(self.forest_, others, self._n_threads()).of(table)
        rows = self._fitted_rows("proximity(out_of_bag=True)")
        if self._bags is not None and self._bags.kind == "all":
            raise ValueError(
                "proximity(out_of_bag=True) requires out-of-bag rows, but the trees were fitted on "
                "all rows: set bootstrap=True and refit, or out_of_bag=False"
            )
        if Y is not None or table.n_rows != len(rows.target):
            raise ValueError(
                "proximity(out_of_bag=True) compares the training rows: pass X of fit, with "
                f"{len(rows.target)} rows, and no Y"
            )
        return Proximity(self.forest_, table, self._n_threads(), rows).of(table)

    def impute(self, X: Any, y: Any, *, n_rounds: int = 5) -> Any:
        """Fill the missing values of a table by the proximity of its rows.

        Missing values are initialised with the median of their column, or with its most frequent
        category. In every round a forest with the parameters of this one is fitted, and a missing
        value is replaced by the mean of the column's present values, weighted by their proximity to
        the row, or by the category with the largest sum of weights. Breiman and Cutler, "Random
        forests" (manual), section "Missing value replacement for the training set".

        The forest itself does not need imputation: it learns on which side of a split missing
        values go. As y is used for filling, a model fitted on the filled table must be evaluated on
        other rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The target of the forests.
        n_rounds : int, default=5
            Number of forests to fit; the authors recommend 4 to 6. With 0 the initial values
            remain.

        Returns
        -------
        filled : ndarray, or frame of the same library
            A copy of X without missing values. Columns without missing values are unchanged.

        Raises
        ------
        ValueError
            If a column has no value at all, or X is sparse.

        Examples
        --------
        >>> import numpy as np
        >>> from arboleda import RandomForestClassifier
        >>> X = np.array([[1.0, 1.1], [1.2, np.nan], [8.0, 8.1], [9.0, 9.2]])
        >>> filled = RandomForestClassifier(random_state=0).impute(X, [0, 0, 1, 1])
        >>> bool(filled[1, 1] < 5)
        True
        """
        return impute_by_proximity(self, X, y, n_rounds)

    def _compute_outlier_scores(
        self, table: DenseTable | SparseTable, groups: npt.NDArray[np.intp]
    ) -> Floats:
        squares = squared_proximities(self.forest_, table, groups, self._n_threads())
        return compute_outlier_scores(squares, groups)

    def _neighborhood(self, method: str) -> Neighborhood:
        return Neighborhood(self.forest_, self._fitted_rows(method), self._n_threads())

    def _fitted_rows(self, method: str) -> FittedRows:
        check_is_fitted(self)
        kept, bags = self.kept_, self._bags
        if not self.forest_.keeps_rows:
            raise ValueError(
                f"{method} requires the training rows of every leaf, which this forest did "
                "not keep: fit it with keep_rows=True"
            )
        if kept is None or bags is None:
            raise ValueError(
                f"{method} requires all trees to be fitted on the same rows, but this forest was "
                "continued on other rows (warm_start=True): fit a clone"
            )
        options = ForestOptions(
            n_trees=1, **bags.options, balance_classes=kept.balances_classes, keep_rows=True
        )
        n_classes = () if is_regressor(self) else self._value_widths()
        return FittedRows(options, kept.target, n_classes, kept.weight, bags.seed)

    def _n_threads(self) -> int:
        return resolve_n_jobs(self.n_jobs)


class ClassNeighborhoodMixin(NeighborhoodMixin):
    """Proximity-based methods of classification forests."""

    def outlier_scores(self, X: Any, y: Any) -> Floats:
        """Compute how far each row lies from the other rows of its class.

        The score is the number of rows divided by the sum of squared proximities to the rows of the
        same class, minus its median in the class, in units of its median absolute deviation (or of
        1 if that is 0). Rows with scores above 10 deserve inspection. Breiman and Cutler, "Random
        forests" (manual), section "Outliers".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of the rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            0 for the median row of a class; larger scores mean stronger outliers.

        Examples
        --------
        >>> from arboleda import RandomForestClassifier
        >>> X, y = [[i] for i in range(20)], [0] * 10 + [1] * 10
        >>> y[3] = 1
        >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
        >>> int(forest.outlier_scores(X, y).argmax())
        3
        """
        labels = column_or_1d(read_target(y, numeric=False))
        table = self._check_input(X)
        if len(labels) != table.n_rows:
            raise ValueError(f"y has {len(labels)} labels, but X has {table.n_rows} rows")
        _, groups = np.unique(labels, return_inverse=True)
        return self._compute_outlier_scores(table, groups)


class QuantileMixin(NeighborhoodMixin):
    """Proximity-based methods and predicted quantiles of regression forests."""

    def outlier_scores(self, X: Any) -> Floats:
        """Compute how far each row lies from the other rows.

        The score is the number of rows divided by the sum of squared proximities to all rows, minus
        its median, in units of its median absolute deviation (or of 1 if that is 0). Rows with
        scores above 10 deserve inspection. Breiman and Cutler, "Random forests" (manual), section
        "Outliers".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            0 for the median row; larger scores mean stronger outliers.
        """
        table = self._check_input(X)
        return self._compute_outlier_scores(table, np.zeros(table.n_rows, dtype=np.intp))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.1, 0.5, 0.9)) -> Floats:
        """Predict quantiles of the target from the weighted training targets.

        The quantile of level p is the smallest training target up to which the weights of
        `neighbor_weights` add up to p. Quantiles do not cross, and lie within the targets of
        the neighbours: levels 0 and 1 are the smallest and the largest of these. Meinshausen
        (2006), "Quantile regression forests".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : float, or array-like of shape (n_quantiles,), default=(0.1, 0.5, 0.9)
            Levels from 0 to 1.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles)
            Or (n_samples, n_outputs, n_quantiles) for several targets; without the last axis if
            ``quantiles`` is a number.

        Raises
        ------
        ValueError
            If a level is not between 0 and 1, or the forest was fitted with ``keep_rows=False``.

        Examples
        --------
        >>> from arboleda import RandomForestRegressor
        >>> X, y = [[1], [2], [3], [9]], [1.0, 2.0, 3.0, 9.0]
        >>> forest = RandomForestRegressor(keep_rows=True, min_samples_leaf=2, random_state=0)
        >>> forest.fit(X, y).predict_quantiles([[2]], [0, 0.5, 1])
        array([[1., 2., 9.]])
        """
        levels = np.atleast_1d(np.asarray(quantiles))
        are_numbers = levels.dtype.kind in "fiu" and levels.ndim == 1 and levels.size > 0
        if not are_numbers or not ((levels >= 0) & (levels <= 1)).all():
            raise ValueError(
                "quantiles must be numbers from 0 to 1, such as 0.5 or [0.1, 0.9], "
                f"got {quantiles!r}"
            )
        table = self._check_input(X)
        values = self._neighborhood("predict_quantiles").quantiles(table, levels.astype(np.float64))
        if values.shape[1] == 1:
            values = values[:, 0]
        return values[..., 0] if np.ndim(quantiles) == 0 else values

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Predict an interval that contains the target with a given probability.

        From the quantile of level (1 - coverage) / 2 to that of (1 + coverage) / 2; see
        `predict_quantiles`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Or (n_samples, n_outputs, 2) for several targets.
        """
        is_number = is_real(coverage) and not isinstance(coverage, bool)
        if not is_number or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be between 0 and 1, such as 0.9, got {coverage!r}")
        return self.predict_quantiles(X, [(1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0])
