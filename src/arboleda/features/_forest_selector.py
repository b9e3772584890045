"""Feature selection by permutation tests of importances in forests.

Statistics have the shape (1 + B, n_columns): row 0 is for the target, the other rows are for
permuted targets. If no column is informative, all rows are exchangeable, also after any
transformation that treats them equally.
"""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_consistent_length

from arboleda._base.mixins import restore_on_failure
from arboleda._engine.shared_binning import SharedBinning
from arboleda.features._base_selectors import TableSelector, Task, read_classes_or_numbers
from arboleda.forest import RandomForestClassifier, RandomForestRegressor

__all__ = ["ForestSelector", "adjust_p_values", "compute_p_values", "standardize"]

Floats = npt.NDArray[np.float64]


def standardize(statistics: Floats) -> Floats:
    """Subtract the mean of each column and divide by its standard deviation; constants become 0.

    Both are computed over all rows, including row 0, so the rows stay exchangeable.
    """
    largest = np.abs(statistics).max(axis=0)
    scaled = np.divide(statistics, largest, out=np.zeros_like(statistics), where=largest > 0.0)
    centered = scaled - scaled.mean(axis=0)
    varied = np.ptp(scaled, axis=0) > 0.0
    standardized: Floats = np.divide(
        centered, centered.std(axis=0, ddof=1), out=np.zeros_like(centered), where=varied
    )
    return standardized


def compute_p_values(statistics: Floats) -> Floats:
    """Compute the share of rows whose statistic is at least that of row 0, which is included.

    Phipson and Smyth (2010): (b + 1) / (B + 1), which is never 0.
    """
    shares: Floats = (statistics >= statistics[0]).mean(axis=0)
    return shares


def adjust_p_values(statistics: Floats) -> Floats:
    """Compute p-values adjusted for multiple testing by step-down maxima.

    Westfall and Young (1993), algorithm 2.8, with maxima of statistics instead of minimal p-values:
    in each row, a column is compared with the largest statistic among the columns that are not more
    significant than itself.
    """
    order = np.argsort(-statistics[0], kind="stable")
    sorted_ = statistics[:, order]
    largest = np.maximum.accumulate(sorted_[:, ::-1], axis=1)[:, ::-1]
    steps = np.maximum.accumulate((largest >= sorted_[0]).mean(axis=0))
    adjusted = np.empty_like(steps)
    adjusted[order] = steps
    return adjusted


class ForestSelector(TableSelector):
    """Select the columns with a significant out-of-bag importance in a forest.

    A forest is fitted to the target, and ``n_permutations`` more to random permutations of it,
    which are independent of the columns. A column is selected if its importance is significantly
    larger than for the permuted targets (Altmann et al. 2010). Unlike a threshold on the
    importance, this is a test with a false positive rate of ``alpha``.

    Parameters
    ----------
    estimator : RandomForestClassifier, RandomForestRegressor or another forest, default=None
        Forest with bootstrap samples, whose ``random_state`` is set for every fit. None: a random
        forest with default parameters.
    n_permutations : int, default=99
        Number of permuted targets. p-values are multiples of ``1 / (n_permutations + 1)``.
    alpha : float, default=0.05
        Significance level of the tests.
    mode : {"fwe", "fpr"}, default="fwe"
        Error rate that ``alpha`` controls. "fwe": the family-wise error, the probability that any
        uninformative column is selected, by the step-down method of Westfall and Young (1993),
        which uses the correlation of the importances. "fpr": the false positive rate, the
        probability for each uninformative column.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y contains classes or numbers, if ``estimator`` is None; see `MRMRSelector`.
    random_state : int, RandomState or None, default=None
        Seed of the permutations and the forests.
    verbose : int, default=0
        1: print the progress about ten times; 2: after every forest.

    Attributes
    ----------
    importances_ : ndarray of shape (n_features,)
        Mean increase of the out-of-bag error of the trees by permuting the column.
    null_importances_ : ndarray of shape (n_permutations, n_features)
        Importances for permuted targets.
    scores_ : ndarray of shape (n_features,)
        Standardized importances: minus the mean and divided by the standard deviation over the
        forests of all targets.
    pvalues_ : ndarray of shape (n_features,)
        p-value of each column: ``(1 + b) / (1 + n_permutations)``, where b is the number of
        permuted targets for which its importance is at least as large.
    adjusted_pvalues_ : ndarray of shape (n_features,)
        Family-wise p-values, which ``mode="fwe"`` compares with ``alpha``.
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    task_ : {"classification", "regression"}
        Task of the target.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.
    schema_ : Schema
        Names, types and categories of the columns.

    See Also
    --------
    MRMRSelector, JMISelector : Selection of a given number of columns by mutual information.

    Notes
    -----
    If no column is informative, the p-values are valid for any columns and any dependence between
    them, because all targets are then exchangeable. If some columns are informative, the others
    affect the predictions of the trees less than in forests for permuted targets. The test is then
    conservative: errors are rarer than ``alpha``, and a column that adds little to better ones may
    be missed. A column that is redundant with an informative one counts as informative;
    `MRMRSelector` drops it.

    Boruta (Kursa, Rudnicki 2010) compares columns with the best permuted copy of all columns; its
    error rate depends on the number of columns, not only on its level.

    The selection varies with the seed, less so with more permutations and trees.

    References
    ----------
    A. Altmann, L. Toloşi, O. Sander, T. Lengauer (2010), "Permutation importance: a corrected
    feature importance measure", Bioinformatics 26.

    M. B. Kursa, W. R. Rudnicki (2010), "Feature selection with the Boruta package", Journal of
    Statistical Software 36.

    P. H. Westfall, S. S. Young (1993), "Resampling-based multiple testing", section 2.6.

    B. Phipson, G. K. Smyth (2010), "Permutation p-values should never be zero", Statistical
    Applications in Genetics and Molecular Biology 9.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import ForestSelector
    >>> X = np.random.default_rng(0).standard_normal((150, 8))
    >>> y = X[:, 2] + X[:, 5] > 0
    >>> ForestSelector(n_permutations=19, random_state=0).fit(X, y).get_support(indices=True)
    array([2, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "oob_permutation_importance"]), None],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0.0, 1.0, closed="right")],
        "mode": [StrOptions({"fwe", "fpr"})],
        "task": [StrOptions({"auto", "classification", "regression"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    importances_: Floats
    null_importances_: Floats

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_permutations: int = 99,
        alpha: float = 0.05,
        mode: Literal["fwe", "fpr"] = "fwe",
        task: Task = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_permutations = n_permutations
        self.alpha = alpha
        self.mode = mode
        self.task = task
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the forests and test the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any table that the forest accepts. It is read and binned once.
        y : array-like of shape (n_samples,)
            Classes or numbers; see ``task``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, ``n_permutations`` is too small for any p-value to reach
            ``alpha``, there is a single row, or fitting the forest fails. The selector stays
            unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            if 1.0 / (1 + self.n_permutations) > self.alpha:
                raise ValueError(
                    f"n_permutations={self.n_permutations} is too small for alpha={self.alpha}: "
                    f"the smallest p-value is {1 / (1 + self.n_permutations):.3g}. Set "
                    f"n_permutations to at least {int(np.ceil(1 / self.alpha)) - 1}."
                )
            target, self.task_ = read_classes_or_numbers(y, self._resolve_task(), self)
            forest = self._make_forest()
            binning = SharedBinning(X, None, forest)
            table = binning.table_for(self)
            check_consistent_length(table, target)
            if table.n_rows < 2:
                raise ValueError("n_samples=1: the trees have no out-of-bag rows. Use more rows.")
            self._test(self._compute_importances(forest, X, binning, target))
        return self

    def _resolve_task(self) -> Task:
        if self.estimator is None:
            return self.task
        return "classification" if is_classifier(self.estimator) else "regression"

    def _make_forest(self) -> Any:
        if self.estimator is not None:
            return clone(self.estimator)
        classes = self.task_ == "classification"
        return RandomForestClassifier() if classes else RandomForestRegressor()

    def _compute_importances(
        self, forest: Any, X: Any, binning: SharedBinning, target: npt.NDArray[Any]
    ) -> Floats:
        """Compute the importances for the target, then for each permuted one."""
        random = check_random_state(self.random_state)
        n_forests = 1 + self.n_permutations
        importances = np.empty((n_forests, self.n_features_in_))
        for number in range(n_forests):
            labels = target if number == 0 else random.permutation(target)
            fitted = clone(forest).set_params(random_state=random.randint(np.iinfo(np.int32).max))
            fitted.fit(binning, labels)
            importances[number] = fitted.oob_permutation_importance(X, labels).mean
            self._report_progress(number + 1, n_forests)
        return importances

    def _test(self, importances: Floats) -> None:
        self.importances_, self.null_importances_ = importances[0], importances[1:]
        scores = standardize(importances)
        self.scores_: Floats = scores[0]
        self.pvalues_: Floats = compute_p_values(scores)
        self.adjusted_pvalues_: Floats = adjust_p_values(scores)
        tested_p_values = self.adjusted_pvalues_ if self.mode == "fwe" else self.pvalues_
        self.support_: npt.NDArray[np.bool_] = tested_p_values <= self.alpha

    def _report_progress(self, n_done: int, n_forests: int) -> None:
        step = 1 if self.verbose > 1 else max(1, n_forests // 10)
        if self.verbose and (n_done % step == 0 or n_done == n_forests):
            sys.stdout.write(f"forest {n_done} of {n_forests}\n")
            sys.stdout.flush()
