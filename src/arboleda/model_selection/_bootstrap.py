"""Bootstrap samples as splits, and bootstrap estimates of the prediction error.

With err the error on the training rows, Err1 the mean over rows of the mean error of the bags that
left the row out, and gamma the no-information error (the mean over all pairs of targets and
predictions):

    .632   = 0.368 err + 0.632 Err1
    R      = (Err1' - err) / (gamma - err),  Err1' = min(Err1, gamma);  0 unless both exceed err
    .632+  = .632 + (Err1' - err) 0.368 * 0.632 R / (1 - 0.368 R)

R is 0 without overfitting, which gives .632, and 1 for a rule such as the nearest neighbour on pure
noise, for which Err1 = gamma.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import BaseShuffleSplit
from sklearn.utils import check_random_state, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from arboleda._base.held_out import Loss, compute_row_losses, find_misclassified_rows, resolve_loss
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.number_types import is_integer
from arboleda._utils.numbers import plain
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Rows = npt.NDArray[np.intp]


class BootstrapSplit(BaseShuffleSplit):  # type: ignore[misc]
    """Bootstrap splitter: trains on N of N rows drawn with replacement, tests on the others.

    It is a scikit-learn splitter, for ``cv=``. A bag has about 63.2 % of the rows, some of them
    more than once; a bag that leaves no row out is drawn again.

    Parameters
    ----------
    n_splits : int, default=50
        Number of bags.
    random_state : int, RandomState or None, default=None
        Seed of the bags; with an int each call of ``split`` draws the same bags.

    See Also
    --------
    bootstrap_error : The .632 and .632+ estimates of the error from such splits.

    References
    ----------
    B. Efron, R. Tibshirani (1993), "An introduction to the bootstrap", chapter 17.

    Examples
    --------
    >>> from arboleda.model_selection import BootstrapSplit
    >>> for bag, left_out in BootstrapSplit(n_splits=2, random_state=1).split(list("abcde")):
    ...     print(bag, left_out)
    [3 4 0 1 3] [2]
    [0 0 1 4 4] [2 3]
    """

    def __init__(self, n_splits: int = 50, *, random_state: Any = None) -> None:
        if not is_integer(n_splits) or isinstance(n_splits, bool) or n_splits < 1:
            raise ValueError(f"n_splits must be a whole number of at least 1; got {n_splits!r}")
        super().__init__(n_splits=n_splits, random_state=random_state)

    def _iter_indices(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Rows, Rows]]:
        n_rows = _num_samples(X)
        if n_rows < 2:
            raise ValueError(
                "a bag of one row leaves no row out for testing: at least 2 rows are required"
            )
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            left_out = np.empty(0, dtype=np.intp)
            while left_out.size == 0:
                bag: Rows = rng.randint(n_rows, size=n_rows)
                left_out = np.setdiff1d(np.arange(n_rows), bag)
            yield bag, left_out


Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_INSIDE = 0.632  # share of the rows in a bag, as rounded in the formulas of the estimates


class _BootstrapErrorFields(NamedTuple):
    plus_632: float
    plain_632: float
    left_out: float
    training: float
    no_information: float
    overfitting: float


class BootstrapError(Result, _BootstrapErrorFields):
    """Estimates of the error on new rows, and their components.

    Attributes
    ----------
    plus_632 : float
        The .632+ estimate, which is recommended.
    plain_632 : float
        The .632 estimate; biased low if a model fits its training rows without error.
    left_out : float
        Err1, the leave-one-out bootstrap; biased high, since bags have fewer distinct rows.
    training : float
        Error on the training rows; biased low.
    no_information : float
        Error if predictions and targets were independent.
    overfitting : float
        R, from 0 (none) to 1.
    """

    __slots__ = ()

    def _summarize(self) -> dict[str, Any]:
        return self._asdict()

    def to_frame(self) -> pd.DataFrame:
        """Return the estimates as a pandas data frame with one row."""
        return new_frame([self._asdict()])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the estimates of the error as bars.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        titles = {
            "plus_632": ".632+ estimate",
            "plain_632": ".632 estimate",
            "left_out": "rows left out",
            "training": "training rows",
            "no_information": "no information",
        }
        errors = [getattr(self, name) for name in titles]
        bars = ax.barh(list(titles.values()), errors, 0.66, color=["C0", *["0.75"] * 4])
        ax.bar_label(bars, [plain(error) for error in errors], padding=3)
        ax.margins(x=0.15)
        ax.invert_yaxis()
        ax.set_xlabel("error")
        return ax


def bootstrap_error(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: Literal["auto"] | Loss = "auto",
    n_splits: int = 50,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BootstrapError:
    """Estimate the error on new rows by the .632 and .632+ bootstrap.

    The estimates have a lower variance than cross-validation on small data, but need ``n_splits``
    fits.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor; it is cloned.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    loss : "auto" or callable, default="auto"
        "auto": 0-1 loss for classes (1 if any of several outputs is wrong), squared error for
        numbers (the mean of several outputs). A callable takes targets and predictions, as arrays
        of equal length, and returns the loss of each row.
    n_splits : int, default=50
        Number of bags.
    random_state : int, RandomState or None, default=None
        Seed of the bags.
    n_jobs : int, default=None
        Number of parallel fits by joblib; None means 1.

    Returns
    -------
    error : BootstrapError

    Raises
    ------
    ValueError
        If there are fewer than two rows or no bag, or a loss is not one finite number per row.

    Warns
    -----
    UserWarning
        If a row was in every bag; it is left out of the estimate.

    References
    ----------
    B. Efron, R. Tibshirani (1997), "Improvements on cross-validation: the .632+ bootstrap method",
    JASA 92.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier
    >>> from arboleda.model_selection import bootstrap_error
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> error = bootstrap_error(DecisionTreeClassifier(), X, y, random_state=0)
    >>> error.training, bool(0.03 < error.plain_632 < error.plus_632 < error.left_out < 0.08)
    (0.0, True)
    """
    check_sparse(X)
    X, y = indexable(X, y)
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:  # predictions have one axis
        y = target = target[:, 0]
    measure = resolve_loss(estimator, loss)
    fitted = clone(estimator).fit(X, y)
    predicted = np.asarray(fitted.predict(X))
    training = float(np.mean(compute_row_losses(measure, target, predicted)))
    no_information = _compute_no_information_error(loss, measure, target, predicted)
    left_out = _estimate_left_out_error(
        estimator, X, y, measure, BootstrapSplit(n_splits, random_state=random_state), n_jobs
    )
    return bootstrap_estimates(training, left_out, no_information)


def bootstrap_estimates(training: float, left_out: float, no_information: float) -> BootstrapError:
    """Compute the .632 and .632+ estimates from their three component errors.

    Parameters
    ----------
    training : float
        Error on the training rows.
    left_out : float
        Err1, the error on the rows that the bags left out.
    no_information : float
        Error if predictions and targets were independent.

    Returns
    -------
    error : BootstrapError

    Examples
    --------
    >>> from arboleda.model_selection import bootstrap_estimates
    >>> round(bootstrap_estimates(0.0, 0.3, 0.5).plus_632, 4)
    0.2433
    """
    plain = (1 - _INSIDE) * training + _INSIDE * left_out
    bounded = min(left_out, no_information)
    overfitting = 0.0
    if bounded > training:
        overfitting = (bounded - training) / (no_information - training)
    more = (1 - _INSIDE) * _INSIDE * overfitting / (1 - (1 - _INSIDE) * overfitting)
    plus = plain + (bounded - training) * more
    return BootstrapError(plus, plain, left_out, training, no_information, overfitting)


def _estimate_left_out_error(
    estimator: Any, X: Any, y: Any, loss: Loss, splits: BootstrapSplit, n_jobs: int | None
) -> float:
    """Return the mean over rows of the mean loss of the bags that left the row out."""
    pairs = list(splits.split(X, y))
    losses = Parallel(n_jobs=n_jobs)(
        delayed(_compute_bag_losses)(estimator, X, y, loss, bag, rows) for bag, rows in pairs
    )
    sums, counts = np.zeros(len(y)), np.zeros(len(y))
    for (_, rows), bag_losses in zip(pairs, losses, strict=True):
        sums[rows] += bag_losses
        counts[rows] += 1
    never = int(np.count_nonzero(counts == 0))
    if never:
        warnings.warn(
            f"{never} of {len(counts)} rows were in every bag and are left out of the estimate: "
            "raise n_splits",
            stacklevel=3,
        )
    return float(np.mean(sums[counts > 0] / counts[counts > 0]))


def _compute_bag_losses(
    estimator: Any, X: Any, y: Any, loss: Loss, bag: Array, rows: Array
) -> Floats:
    model = clone(estimator)
    X_bag, y_bag = _safe_split(model, X, y, bag)
    X_out, y_out = _safe_split(model, X, y, rows, bag)
    model.fit(X_bag, y_bag)
    return compute_row_losses(loss, np.asarray(y_out), np.asarray(model.predict(X_out)))


def _compute_no_information_error(
    loss: Any, measure: Loss, target: Array, predicted: Array
) -> float:
    """Return the mean loss over all pairs of targets and predictions."""
    if loss == "auto" and measure is find_misclassified_rows:
        true_counts, predicted_counts = _count_labels(target), _count_labels(predicted)
        n_equal = sum(true_counts[label] * predicted_counts[label] for label in true_counts)
        return 1 - n_equal / len(target) ** 2
    if loss == "auto":
        gap = np.mean(target, axis=0) - np.mean(predicted, axis=0)
        spread = np.var(target, axis=0) + np.var(predicted, axis=0)
        return float(np.mean(gap**2 + spread))
    means = [
        np.mean(compute_row_losses(measure, target, np.repeat(p[np.newaxis], len(target), axis=0)))
        for p in predicted
    ]
    return float(np.mean(means))


def _count_labels(labels: Array) -> Counter[tuple[Any, ...]]:
    """Count how often each label occurs; with several outputs a label is a row."""
    return Counter(map(tuple, labels.reshape(len(labels), -1).tolist()))
