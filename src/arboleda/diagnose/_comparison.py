r"""Comparison of models on one table: the corrected resampled t test.

Repeated splits share rows, so their scores vary less than scores on independent tables, and the
usual t test finds spurious differences. With d_1, .., d_J the differences of two models' errors
over J splits, s^2 their variance, and n_train and n_test the numbers of training and test rows,

    t = mean(d) / sqrt((1 / J + n_test / n_train) s^2),    J - 1 degrees of freedom

(Nadeau and Bengio 2003, section 4; for repeated cross-validation Bouckaert and Frank 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv, cross_val_score

from arboleda._base.held_out import Loss, resolve_loss
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse
from arboleda._utils.text import plot_escaped
from arboleda.diagnose._models import MinusMeanLoss, all_classifiers, check_named_models

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Result of `compare`. Arrays of pairs have an entry for each pair of models.

    Attributes
    ----------
    names : tuple of str
        Names of the models.
    errors : ndarray of shape (n_models, n_splits)
        Mean loss on the test rows of each split.
    pairs : ndarray of int, shape (n_pairs, 2)
        Indices of the models of each pair: 0 and 1, 0 and 2, and so on.
    difference : ndarray of shape (n_pairs,)
        Mean error of the first model minus that of the second.
    standard_error : ndarray of shape (n_pairs,)
        Standard error of the difference, corrected for the overlap of the splits.
    t : ndarray of shape (n_pairs,)
        Difference / standard error.
    p_value : ndarray of shape (n_pairs,)
        Two-sided p-value of ``t`` under the hypothesis that the models are equally good.
    p_adjusted : ndarray of shape (n_pairs,)
        p-values adjusted for multiple comparisons by Holm's method. If all pairs below 0.05 are
        considered different, the probability of any false positive is at most 5 %.
    """

    names: tuple[str, ...]
    errors: Floats
    pairs: npt.NDArray[np.intp]
    difference: Floats
    standard_error: Floats
    t: Floats
    p_value: Floats
    p_adjusted: Floats

    def _summarize(self) -> dict[str, Any]:
        means = self.errors.mean(axis=1)
        return {
            "models": self.names,
            "n_splits": self.errors.shape[1],
            "lowest_error": self.names[int(means.argmin())],
            "error": float(means.min()),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the tests as a pandas data frame with a row for each pair.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``first``, ``second``, ``difference``, ``standard_error``, ``t``, ``p_value``
            and ``p_adjusted``.
        """
        who = {
            side: [self.names[k] for k in self.pairs[:, place]]
            for place, side in enumerate(("first", "second"))
        }
        tests = ("difference", "standard_error", "t", "p_value", "p_adjusted")
        return new_frame(who | {name: getattr(self, name) for name in tests})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the differences with simultaneous 95 % confidence intervals, by Student's t.

        They are Bonferroni's: an interval excludes 0 if and only if its ``p_value`` is below 0.05
        divided by the number of pairs. Its ``p_adjusted`` is then below 0.05, too; that of other
        pairs may be, for Holm's method is the more powerful one.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        places = np.arange(len(self.pairs))
        level = 1.0 - 0.025 / len(self.pairs)
        reach = stats.t.ppf(level, self.errors.shape[1] - 1) * self.standard_error
        ax.axvline(0, color="grey", lw=0.8)
        ax.errorbar(self.difference, places, xerr=reach, fmt="o", ms=5, capsize=3)
        texts = [plot_escaped(f"{self.names[i]} – {self.names[j]}") for i, j in self.pairs]
        ax.set_yticks(places, texts)
        ax.invert_yaxis()
        ax.set_xlabel("difference of the errors, with simultaneous 95 % intervals")
        return ax


def compare(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: Any = None,
    loss: Literal["auto"] | Loss = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare models on the same splits of one table by the corrected resampled t test.

    The test assesses, from a single table, whether models trained on tables of this size differ. To
    compare over many tables, see `compare_over_data_sets`.

    Parameters
    ----------
    estimators : list of (str, estimator), or dict of str to estimator
        At least two classifiers, or regressors; they are cloned.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    cv : int, cross-validation splitter or iterable, default=None
        Splits, as in scikit-learn; None: 15 random splits with a tenth of the rows as test rows,
        stratified for classifiers.
    groups : array-like of shape (n_samples,), default=None
        Groups of the rows, passed to the splitter.
    loss : "auto" or callable, default="auto"
        "auto": the 0-1 loss for classifiers, the squared error for regressors. A callable takes
        targets and predictions, and returns the loss of each row.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits if ``cv`` is None.
    n_jobs : int, default=None
        Number of parallel fits by joblib; None means 1.

    Returns
    -------
    result : Comparison
        With the methods ``to_frame()`` and ``plot()``.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), "Inference for the generalization error", Machine Learning 52;
    S. Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal
    of Statistics 6.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, RandomForestClassifier
    >>> from arboleda.diagnose import compare
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> models = [
    ...     ("tree", DecisionTreeClassifier(random_state=0)),
    ...     ("forest", RandomForestClassifier(20, random_state=0)),
    ... ]
    >>> result = compare(models, X, y, random_state=0)
    >>> bool(result.difference[0] > 0.05), bool(result.p_value[0] < 0.001)
    (True, True)
    """
    check_sparse(X)
    models = check_named_models(estimators)
    classify = all_classifiers(models)
    if len(models) < 2:
        raise ValueError(
            f"compare needs at least two models, got {len(models)}: pass a list of "
            "(name, estimator)"
        )
    if cv is None:
        kind = StratifiedShuffleSplit if classify else ShuffleSplit
        cv = kind(15, test_size=0.1, random_state=random_state)
    # Listed once, so that all models get the same splits even if the splitter shuffles.
    splits = list(check_cv(cv, y, classifier=classify).split(X, y, groups))
    if len(splits) < 2:
        raise ValueError("cv makes one split, but the test needs at least two: set another cv")
    errors = np.array(
        [
            -cross_val_score(
                model, X, y, cv=splits, scoring=MinusMeanLoss(resolve_loss(model, loss)),
                n_jobs=n_jobs, error_score="raise",
            )
            for _, model in models
        ]
    )  # fmt: skip
    share = np.mean([len(test) / len(train) for train, test in splits])
    pairs = np.array(list(combinations(range(len(models)), 2)))
    tests = corrected_t_test(errors[pairs[:, 0]] - errors[pairs[:, 1]], float(share))
    names = tuple(name for name, _ in models)
    return Comparison(names, errors, pairs, *tests, holm(tests[-1]))


def corrected_t_test(differences: Floats, share: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean difference, standard error, t and p-value of each pair.

    Parameters
    ----------
    differences : ndarray of shape (n_pairs, n_splits)
    share : float
        Ratio of test rows to training rows.
    """
    n_splits = differences.shape[1]
    # In units of the largest difference, because squares of large ones would overflow.
    unit = float(np.abs(differences).max(initial=0.0)) or 1.0
    mean = unit * (differences / unit).mean(axis=1)
    variance = (differences / unit).var(axis=1, ddof=1)
    standard_error = unit * np.sqrt((1 / n_splits + share) * variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        # With zero variance, t is 0 for a zero difference and infinite otherwise.
        t = np.where(mean == 0, 0.0, mean / standard_error)
    return mean, standard_error, t, 2 * stats.t.sf(np.abs(t), n_splits - 1)


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted for multiple comparisons: Holm (1979)."""
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(factors * p_values[order]))
    return adjusted
