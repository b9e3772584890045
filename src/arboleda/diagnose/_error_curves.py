"""Training and test error by model complexity, and by number of training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn import model_selection
from sklearn.base import is_classifier

from arboleda._base.held_out import Loss, resolve_loss
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse
from arboleda._utils.text import plot_escaped
from arboleda.diagnose._models import MinusMeanLoss

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ErrorCurve(Result):
    """Result of `complexity_curve` and `learning_curve`.

    Attributes
    ----------
    name : str
        Name of the parameter that varies, or ``"training rows"``.
    values : tuple
        Its values; the arrays have a row for each.
    places : ndarray of shape (n_values,)
        Positions on the horizontal axis: the values or their complexity if they are numbers, else
        0, 1, 2, ...
    train_error, test_error : ndarray of shape (n_values, n_folds)
        Mean loss on the training rows and on the held-out rows.
    """

    name: str
    values: tuple[Any, ...]
    places: Floats
    train_error: Floats
    test_error: Floats

    @property
    def best(self) -> int:
        """Index of the value with the least mean test error."""
        return int(self.test_error.mean(axis=1).argmin())

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean test error over folds, assuming independent folds."""
        n_folds = self.test_error.shape[1]
        if n_folds == 1:
            return np.full(len(self.values), np.nan)
        spread: Floats = self.test_error.std(axis=1, ddof=1) / np.sqrt(n_folds)
        return spread

    def _summarize(self) -> dict[str, Any]:
        return {
            "parameter": self.name,
            "values": self.values,
            "n_folds": self.test_error.shape[1],
            "best": self.values[self.best],
            "test_error": float(self.test_error.mean(axis=1).min()),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return means over the folds as a pandas data frame with a row for each value.

        Returns
        -------
        frame : pandas.DataFrame
            A column with the name of the parameter, ``place``, ``train_error``, ``test_error`` and
            ``standard_error`` (of the test error).
        """
        columns = {
            self.name: list(self.values),
            "place": self.places,
            "train_error": self.train_error.mean(axis=1),
            "test_error": self.test_error.mean(axis=1),
            "standard_error": self.standard_error,
        }
        return new_frame(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw both errors, with a band of one standard error around the test error.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        order = np.argsort(self.places, kind="stable")
        x, test = self.places[order], self.test_error.mean(axis=1)[order]
        ax.plot(
            x, self.train_error.mean(axis=1)[order], "o-", ms=4, color="C1", label="training rows"
        )
        ax.plot(x, test, "o-", ms=4, color="C0", label="held-out rows")
        margin = self.standard_error[order]
        ax.fill_between(x, test - margin, test + margin, color="C0", alpha=0.2, linewidth=0)
        if x[0] > 0 and x[-1] / x[0] > 30:
            ax.set_xscale("log")
        if not _are_numbers(self.values):
            ax.set_xticks(self.places, [plot_escaped(str(value)) for value in self.values])
        ax.set_xlabel(plot_escaped(self.name))
        ax.set_ylabel("error")
        ax.legend(frameon=False)
        return ax


def complexity_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    param_name: str,
    param_range: Sequence[Any],
    complexity: Callable[[Any, int], float] | None = None,
    cv: Any = None,
    groups: Any = None,
    loss: Literal["auto"] | Loss = "auto",
    n_jobs: int | None = None,
) -> ErrorCurve:
    """Cross-validate a model for every value of a parameter.

    With increasing complexity, the training error falls; the test error falls and then rises.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor; it is cloned.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    param_name : str
        Name of the parameter, as in ``set_params``.
    param_range : sequence
        Values of the parameter.
    complexity : callable, default=None
        Complexity of the model of a value, which is its position on the axis: called with the value
        and the mean number of training rows. For k nearest neighbours: ``lambda k, n: n / k``.
    cv : int, cross-validation splitter or iterable, default=None
        Splits, as in scikit-learn; None: five folds.
    groups : array-like of shape (n_samples,), default=None
        Groups of the rows, passed to the splitter.
    loss : "auto" or callable, default="auto"
        "auto": the 0-1 loss for classifiers, the squared error for regressors. A callable takes
        targets and predictions, and returns the loss of each row.
    n_jobs : int, default=None
        Number of parallel fits by joblib; None means 1.

    Returns
    -------
    curve : ErrorCurve
        With the methods ``to_frame()`` and ``plot()``.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman (2009), *The Elements of Statistical Learning*, figures
    2.4 and 7.1.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier
    >>> from arboleda.diagnose import complexity_curve
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = complexity_curve(
    ...     DecisionTreeClassifier(random_state=0), X, y, param_name="max_depth", param_range=[1, 9]
    ... )
    >>> shallow, deep = curve.train_error.mean(axis=1)
    >>> bool(shallow > deep)
    True
    """
    check_sparse(X)
    values = tuple(param_range)
    if not values:
        raise ValueError("param_range must hold at least one value, got an empty sequence")
    folds = list(_make_splitter(cv, y, estimator).split(X, y, groups))
    train, test = model_selection.validation_curve(
        estimator, X, y, param_name=param_name, param_range=values, cv=folds,
        scoring=MinusMeanLoss(resolve_loss(estimator, loss)), n_jobs=n_jobs, error_score="raise",
    )  # fmt: skip
    if complexity is not None:
        n_train = round(np.mean([len(rows) for rows, _ in folds]))
        places = [complexity(value, n_train) for value in values]
    else:
        places = list(values) if _are_numbers(values) else list(range(len(values)))
    return ErrorCurve(param_name, values, np.array(places, np.float64), -train, -test)


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    train_sizes: Any = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
    cv: Any = None,
    groups: Any = None,
    loss: Literal["auto"] | Loss = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ErrorCurve:
    """Cross-validate a model fitted on increasing numbers of rows.

    If both errors have converged, more rows will not help, but a more flexible model may; if they
    are far apart, more rows help.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor; it is cloned.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    train_sizes : array-like, default=(0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
        Numbers of training rows, or shares of the rows of a fold. Rows are drawn at random; larger
        sets include the smaller ones.
    cv : int, cross-validation splitter or iterable, default=None
        Splits, as in scikit-learn; None: five folds.
    groups : array-like of shape (n_samples,), default=None
        Groups of the rows, passed to the splitter.
    loss : "auto" or callable, default="auto"
        "auto": the 0-1 loss for classifiers, the squared error for regressors. A callable takes
        targets and predictions, and returns the loss of each row.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training rows.
    n_jobs : int, default=None
        Number of parallel fits by joblib; None means 1.

    Returns
    -------
    curve : ErrorCurve
        With the methods ``to_frame()`` and ``plot()``.

    Examples
    --------
    >>> from arboleda import RandomForestClassifier
    >>> from arboleda.diagnose import learning_curve
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> curve = learning_curve(forest, X, y, train_sizes=[40, 400], random_state=0)
    >>> few, many = curve.test_error.mean(axis=1)
    >>> curve.values, bool(few > many)
    ((40, 400), True)
    """
    check_sparse(X)
    sizes, train, test = model_selection.learning_curve(
        estimator, X, y, train_sizes=np.asarray(train_sizes), cv=cv, groups=groups, shuffle=True,
        scoring=MinusMeanLoss(resolve_loss(estimator, loss)), random_state=random_state,
        n_jobs=n_jobs, error_score="raise",
    )  # fmt: skip
    values = tuple(sizes.tolist())
    return ErrorCurve("training rows", values, np.array(values, np.float64), -train, -test)


def _make_splitter(cv: Any, y: Any, estimator: Any) -> Any:
    return model_selection.check_cv(cv, y, classifier=is_classifier(estimator))


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool)
        for value in values
    )
