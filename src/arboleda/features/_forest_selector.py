"""Columns whose importance in a forest is beyond what they show for a permuted target."""

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

from arboleda._engine.shared_binning import SharedBinning
from arboleda.features._permutation_tests import adjust_p_values, compute_p_values, standardize
from arboleda.features._table_selector import TableSelector
from arboleda.features._target import Task, read_classes_or_numbers
from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.tree._restore_on_failure import restore_on_failure

__all__ = ["ForestSelector"]

Floats = npt.NDArray[np.float64]


class ForestSelector(TableSelector):
    """Select the columns whose out-of-bag importance in a forest is beyond chance.

    A forest is grown for the target, and ``n_permutations`` more for the target permuted at random,
    of which no column can tell anything. A column is selected where its importance stands out of
    those that it has there (Altmann et al. 2010): unlike a threshold on the importance, that is a
    test, whose rate of false positives is ``alpha``.

    Parameters
    ----------
    estimator : RandomForestClassifier, RandomForestRegressor or another forest, default=None
        With bootstrap samples; its ``random_state`` is set for every fit. None: a random forest at
        its defaults for the task.
    n_permutations : int, default=99
        Forests grown for permuted targets. p-values are multiples of ``1 / (n_permutations + 1)``.
    alpha : float, default=0.05
        Level of the tests.
    mode : {"fwe", "fpr"}, default="fwe"
        What ``alpha`` bounds. "fwe": the probability that any column without information is
        selected, by the step-down method of Westfall and Young (1993), which knows how the
        importances go together. "fpr": that of each such column.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or numbers, where ``estimator`` does not say it; see `MRMRSelector`.
    random_state : int, RandomState or None, default=None
        Seed of the permutations and the forests.
    verbose : int, default=0
        1 tells about ten times how far fitting is, 2 after every forest.

    Attributes
    ----------
    importances_ : ndarray of shape (n_features,)
        Mean increase of the trees' error on their left-out rows by permuting the column.
    null_importances_ : ndarray of shape (n_permutations, n_features)
        The same for permuted targets.
    scores_ : ndarray of shape (n_features,)
        Importance less its mean, in standard deviations, both over the forests of all targets.
    pvalues_ : ndarray of shape (n_features,)
        Of each column alone: ``(1 + b) / (1 + n_permutations)`` with the b permuted targets for
        which its importance is at least as large.
    adjusted_pvalues_ : ndarray of shape (n_features,)
        The same for the family of all columns: what ``mode="fwe"`` compares with ``alpha``.
    support_ : ndarray of shape (n_features,)
        Whether a column is selected.
    task_ : {"classification", "regression"}
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.

    See Also
    --------
    MRMRSelector, JMISelector : Selection of a number of columns by mutual information.

    Notes
    -----
    With a target that no column tells anything of, the p-values are valid whatever the columns are
    and however they depend on each other, because all targets are then exchangeable. Beside columns
    that do tell something, the others move the answers of the trees less than in forests of noise.
    That makes the test careful: errors are rarer than ``alpha``, and a column that adds little
    beside better ones can be missed. One that shares the work of a useful column in the trees is
    useful too; `MRMRSelector` drops it.

    Boruta (Kursa, Rudnicki 2010) compares columns with the best of permuted copies of all instead;
    how often it errs depends on the number of columns, not on its level alone.

    The selection varies with the seed, the less the more permutations and trees there are.

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
        """Grow the forests and test the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table of any container, as the forest takes it. It is read and coded once.
        y : array-like of shape (n_samples,)
            Classes or numbers; see ``task``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, ``n_permutations`` is too small for any p-value to reach
            ``alpha``, there is a single row, or the forest refuses X or y. The selector stays as it
            was.
        """
        with restore_on_failure(self):
            self._validate_params()
            if 1.0 / (1 + self.n_permutations) > self.alpha:
                raise ValueError(
                    f"n_permutations={self.n_permutations} gives no p-value below "
                    f"{1 / (1 + self.n_permutations):.3g}, so none reaches alpha={self.alpha}: "
                    f"set n_permutations to {int(np.ceil(1 / self.alpha)) - 1} at least"
                )
            target, self.task_ = read_classes_or_numbers(y, self._resolve_task(), self)
            forest = self._make_forest()
            coded = SharedBinning(X, None, forest)
            table = coded.table_for(self)
            check_consistent_length(table, target)
            if table.n_rows < 2:
                raise ValueError(
                    "n_samples=1: no tree leaves a row out to judge by; give more rows"
                )
            self._test(self._compute_importances(forest, X, coded, target))
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
        self, forest: Any, X: Any, coded: SharedBinning, target: npt.NDArray[Any]
    ) -> Floats:
        """Importances for the target, and below it for each permuted one."""
        random = check_random_state(self.random_state)
        n_forests = 1 + self.n_permutations
        found = np.empty((n_forests, self.n_features_in_))
        for number in range(n_forests):
            labels = target if number == 0 else random.permutation(target)
            grown = clone(forest).set_params(random_state=random.randint(np.iinfo(np.int32).max))
            grown.fit(coded, labels)
            found[number] = grown.oob_permutation_importance(X, labels).mean
            self._report_progress(number + 1, n_forests)
        return found

    def _test(self, importances: Floats) -> None:
        self.importances_, self.null_importances_ = importances[0], importances[1:]
        scores = standardize(importances)
        self.scores_ = scores[0]
        self.pvalues_ = compute_p_values(scores)
        self.adjusted_pvalues_ = adjust_p_values(scores)
        tested_p_values = self.adjusted_pvalues_ if self.mode == "fwe" else self.pvalues_
        self.support_ = tested_p_values <= self.alpha

    def _report_progress(self, n_done: int, n_forests: int) -> None:
        step = 1 if self.verbose > 1 else max(1, n_forests // 10)
        if self.verbose and (n_done % step == 0 or n_done == n_forests):
            sys.stdout.write(f"forest {n_done} of {n_forests}\n")
            sys.stdout.flush()
