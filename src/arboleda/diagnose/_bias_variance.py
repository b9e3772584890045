"""Bias, variance and noise of models, estimated over many training sets.

With f_S(x) the prediction of the model of training set S, f(x) its mean over the sets and y(x) the
expected target, the expected squared error at x is

    E (f_S - y)^2 = noise + bias^2 + variance = Var y + (f - y(x))^2 + E (f_S - f)^2

(Geman, Bienenstock, Doursat 1992). With B sets, the variance is estimated with the divisor B - 1,
and variance / B, the variance of the mean of B predictions, is subtracted from the squared bias, so
that both estimates are unbiased and the sum is unchanged.

For 0-1 loss, Domingos (2000) defines the main prediction m at x as the most frequent one, and the
best prediction b as the most probable class. The bias is the loss of m against b, the variance the
loss of a prediction a against m, the noise the loss of b against the class c, and

    E loss = c1 noise + bias + c2 variance
    c1 = P(a = b) - P(a != b) P(a = c | a != b, c != b)
    c2 = 1 where m = b, else -P(a = b | a != m)

so variance reduces the error where the main prediction is wrong. The functions return the terms
with their coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length

from arboleda._base.held_out import SQUARES_OVERFLOW
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse
from arboleda._utils.text import plot_escaped
from arboleda.diagnose._models import (
    Rows,
    all_classifiers,
    check_named_models,
    draw_training_sets,
    fit_on_rows,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


class ErrorTerms(NamedTuple):
    """Error at each point, and the terms whose sum is the expected error."""

    error: Floats
    noise: Floats
    bias: Floats
    variance: Floats


def decompose_squared_error(
    predictions: Floats, targets: Floats, truth: Floats | None
) -> ErrorTerms:
    """Decompose the squared error.

    Parameters
    ----------
    predictions : ndarray of shape (n_sets, n_points)
    targets : ndarray of shape (n_points,)
        Observed targets.
    truth : ndarray of shape (n_points,) or None
        Expected targets. None: the noise is included in the bias.
    """
    error = ((predictions - targets) ** 2).mean(axis=0)
    expected = targets if truth is None else truth
    variance = predictions.var(axis=0, ddof=1)
    bias = (predictions.mean(axis=0) - expected) ** 2 - variance / len(predictions)
    return ErrorTerms(error, (targets - expected) ** 2, bias, variance)


def decompose_zero_one_loss(
    predictions: Integers, targets: Integers, chances: Floats
) -> ErrorTerms:
    """Decompose the share of wrong predictions.

    Parameters
    ----------
    predictions : ndarray of shape (n_sets, n_points)
        Predicted class numbers.
    targets : ndarray of shape (n_points,)
        Observed class numbers.
    chances : ndarray of shape (n_points, n_classes)
        Probability of each class.
    """
    points = np.arange(len(targets))
    shares = np.stack([(predictions == k).mean(axis=0) for k in range(chances.shape[1])], axis=1)
    best = chances.argmax(axis=1)
    is_best = shares[points, best]
    biased = shares.argmax(axis=1) != best
    expected = 1 - (shares * chances).sum(axis=1)
    return ErrorTerms(
        error=1 - shares[points, targets],
        noise=expected - (1 - is_best),
        bias=biased.astype(np.float64),
        variance=np.where(biased, -is_best, 1 - is_best),
    )


def one_hot_probabilities(targets: Integers, n_classes: int) -> Floats:
    """Return class probabilities of 1 for the targets and 0 for other classes."""
    return np.eye(n_classes)[targets]


def check_truth(truth: Any, n_points: int, n_classes: int | None) -> Floats:
    """Check expected targets or class probabilities, and return them as an array."""
    values = np.asarray(truth, dtype=np.float64)
    shape = (n_points,) if n_classes is None else (n_points, n_classes)
    if values.shape != shape:
        what = "the expected target" if n_classes is None else "the probability of each class"
        raise ValueError(f"truth must hold {what} of each point, shape {shape}; got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("truth holds NaN or infinity")
    if n_classes is not None and not (
        (values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-6)
    ):
        raise ValueError("truth must hold probabilities: non-negative, with sum 1 in each row")
    return values


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance(Result):
    """Result of `bias_variance`: the terms of the expected error at each point.

    The expected error is ``noise + bias + variance``.

    Attributes
    ----------
    names : tuple of str
        Names of the models; the arrays have a row for each.
    loss : {"squared", "0-1"}
    n_sets : int
        Number of training sets that each model was fitted on.
    noise_known : bool
        False if ``truth`` was not given: then ``noise`` is 0 and ``bias`` includes the noise.
    error : ndarray of shape (n_models, n_points)
        Mean loss against the observed targets.
    noise, bias, variance : ndarray of shape (n_models, n_points)
        For squared loss, ``bias`` is an unbiased estimate of the squared bias, which can be
        negative. For 0-1 loss, ``bias`` is 1 where the most frequent prediction is not the most
        probable class; ``variance`` is negative there, because varying predictions are sometimes
        right.
    """

    names: tuple[str, ...]
    loss: Literal["squared", "0-1"]
    n_sets: int
    noise_known: bool
    error: Floats
    noise: Floats
    bias: Floats
    variance: Floats

    def _summarize(self) -> dict[str, Any]:
        return {
            "models": self.names,
            "loss": self.loss,
            "n_sets": self.n_sets,
            "n_points": self.error.shape[1],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return means over the points as a pandas data frame, one row a model.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``model``, ``error``, ``noise``, ``bias`` and ``variance``; for 0-1 loss also
            ``unbiased_variance`` and ``biased_variance``, whose difference is the variance.
        """
        columns: dict[str, Any] = {"model": list(self.names)}
        for name in ("error", "noise", "bias", "variance"):
            columns[name] = getattr(self, name).mean(axis=1)
        if self.loss == "0-1":
            columns["unbiased_variance"] = np.maximum(self.variance, 0).mean(axis=1)
            columns["biased_variance"] = np.maximum(-self.variance, 0).mean(axis=1)
        return new_frame(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a bar of noise, bias and variance, and a dot for the error, for each model.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        squared = self.loss == "squared"
        parts = {"noise": "0.75", "bias": "C0", "variance": "C1"}
        labels = {"bias": "squared bias"} if squared else {}
        if not self.noise_known:
            del parts["noise"]
            labels["bias"] = f"{labels.get('bias', 'bias')} and noise"
        places = np.arange(len(self.names))
        above, below = np.zeros(len(places)), np.zeros(len(places))
        for name, colour in parts.items():
            heights = getattr(self, name).mean(axis=1)
            start = np.where(heights >= 0, above, below)
            ax.barh(places, heights, 0.6, left=start, color=colour, label=labels.get(name, name))
            above += np.maximum(heights, 0)
            below += np.minimum(heights, 0)
        ax.plot(self.error.mean(axis=1), places, "o", color="black", ms=5, label="error")
        ax.set_yticks(places, list(map(plot_escaped, self.names)))
        ax.invert_yaxis()
        ax.set_xlabel("squared error" if squared else "share of wrong predictions")
        ax.legend(frameon=False)
        return ax


def bias_variance(
    estimators: Any,
    X: Any,
    y: Any,
    points: Any,
    targets: Any,
    *,
    truth: Any = None,
    n_sets: int = 50,
    set_size: float | int = 1.0,
    bootstrap: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BiasVariance:
    """Decompose the error of models into bias, variance and noise.

    Each model is fitted on ``n_sets`` training sets drawn from the rows. Its predictions at other
    points are compared with each other and with the targets: by squared loss for regressors, and by
    the decomposition of 0-1 loss of Domingos (2000) for classifiers.

    Bootstrap samples of a table are a substitute for new tables; their bias and variance are those
    of training on the available rows. If there are many rows, as in a simulation, draw small sets
    without replacement: ``bootstrap=False, set_size=200``.

    Parameters
    ----------
    estimators : estimator, list of (str, estimator), or dict of str to estimator
        Classifiers or regressors. Every ``random_state`` parameter is set to a new seed for each
        training set, so the randomness of a model is part of its variance.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    points : array-like of shape (n_points, n_features)
        Points at which the models predict: rows that are not in X.
    targets : array-like of shape (n_points,)
        Targets of the points.
    truth : array-like of shape (n_points,) or (n_points, n_classes), default=None
        In a simulation, the expected target of each point, or the probabilities of its classes in
        sorted order. Noise and bias can be separated only if it is given.
    n_sets : int, default=50
        Number of training sets, at least 2.
    set_size : float or int, default=1.0
        Number of rows of a training set, or their share.
    bootstrap : bool, default=True
        Whether to draw rows with replacement. If False, the sets are disjoint if there are enough
        rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the training sets and of the models; all models get the same ones.
    n_jobs : int, default=None
        Number of parallel fits by joblib; None means 1.

    Returns
    -------
    result : BiasVariance
        With the methods ``to_frame()`` and ``plot()``.

    References
    ----------
    S. Geman, E. Bienenstock, R. Doursat (1992), "Neural networks and the bias/variance dilemma",
    Neural Computation 4; P. Domingos (2000), "A unified bias-variance decomposition and its
    applications", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import DecisionTreeRegressor
    >>> from arboleda.diagnose import bias_variance
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(6000, 1))
    >>> expected = np.sin(6 * x[:, 0])
    >>> y = expected + rng.normal(scale=0.5, size=6000)
    >>> result = bias_variance(
    ...     [("stump", DecisionTreeRegressor(max_depth=1)), ("tree", DecisionTreeRegressor())],
    ...     x[:5000], y[:5000], x[5000:], y[5000:], truth=expected[5000:],
    ...     set_size=100, bootstrap=False, random_state=0,
    ... )
    >>> stump, tree = result.to_frame().itertuples()
    >>> bool(stump.bias > tree.bias), bool(stump.variance < tree.variance)
    (True, True)
    """
    check_sparse(X)
    check_sparse(points, "points")
    models = check_named_models(estimators)
    classify = all_classifiers(models)
    check_consistent_length(X, y)
    check_consistent_length(points, targets)
    if np.ndim(y) != 1 or np.ndim(targets) != 1:
        raise ValueError(
            "bias_variance decomposes the error of one target: y and targets must have one axis, "
            f"got the shapes {np.shape(y)} and {np.shape(targets)}"
        )
    sets = draw_training_sets(
        len(y), n_sets, set_size, check_random_state(random_state), bootstrap=bootstrap
    )
    predictions = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_predict)(model, X, y, points, *each)
        for _, model in models
        for each in sets
    )
    by_model = np.array(predictions).reshape(len(models), n_sets, -1)
    decompose = _decompose_classes if classify else _decompose_values
    with np.errstate(over="ignore", invalid="ignore"):
        parts = decompose(by_model, np.asarray(y), np.asarray(targets), truth)
    if not all(np.isfinite(term).all() for part in parts for term in part):
        raise ValueError(SQUARES_OVERFLOW)
    names = tuple(name for name, _ in models)
    stacked = (np.array(column) for column in zip(*parts, strict=True))
    return BiasVariance(
        names, "0-1" if classify else "squared", n_sets, truth is not None, *stacked
    )


def _fit_and_predict(model: Any, X: Any, y: Any, points: Any, rows: Rows, seed: int) -> Any:
    return np.asarray(fit_on_rows(model, X, y, rows, seed).predict(points))


def _decompose_values(predictions: Any, y: Any, targets: Any, truth: Any) -> list[ErrorTerms]:
    del y
    expected = None if truth is None else check_truth(truth, len(targets), None)
    observed = np.asarray(targets, dtype=np.float64)
    if not np.isfinite(observed).all():
        raise ValueError("targets hold NaN or infinity")
    return [decompose_squared_error(each, observed, expected) for each in predictions]


def _decompose_classes(predictions: Any, y: Any, targets: Any, truth: Any) -> list[ErrorTerms]:
    classes = np.unique(np.concatenate([y, targets]))
    observed = np.searchsorted(classes, targets)
    if truth is None:
        chances = one_hot_probabilities(observed, len(classes))
    else:
        chances = check_truth(truth, len(targets), len(classes))
    numbers = np.searchsorted(classes, predictions)
    return [decompose_zero_one_loss(each, observed, chances) for each in numbers]
