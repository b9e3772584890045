"""How much of a model's error is bias, variance and noise, seen over many training sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length

from arboleda._figures import axes_or_new
from arboleda._frames import new_frame
from arboleda._sparse import check_sparse
from arboleda.diagnose._decompositions import (
    Parts,
    certain,
    checked_truth,
    squared_parts,
    zero_one_parts,
)
from arboleda.diagnose._named import all_classifiers, named_models
from arboleda.diagnose._training_sets import Rows, fitted_on, training_sets

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BiasVariance:
    """What `bias_variance` returns: the terms of the expected error at each point.

    ``noise + bias + variance`` is what the error is expected to be.

    Attributes
    ----------
    names : tuple of str
        The models; one row of the arrays for each.
    loss : {"squared", "0-1"}
    n_sets : int
        Training sets that each model was fitted on.
    noise_known : bool
        False if ``truth`` was not given: then ``noise`` is 0 and ``bias`` holds it.
    error : ndarray of shape (n_models, n_points)
        Mean loss against the targets as observed.
    noise, bias, variance : ndarray of shape (n_models, n_points)
        Of squared loss, ``bias`` is the squared bias, less what the mean of finitely many answers
        varies by, so it can fall below 0. Of 0-1 loss, ``bias`` is 1 where the most frequent answer
        is not the most probable class, and ``variance`` is below 0 there: answers that vary are
        sometimes right.
    """

    names: tuple[str, ...]
    loss: Literal["squared", "0-1"]
    n_sets: int
    noise_known: bool
    error: Floats
    noise: Floats
    bias: Floats
    variance: Floats

    def to_frame(self) -> pd.DataFrame:
        """Return means over the points as a pandas data frame, one row a model.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``model``, ``error``, ``noise``, ``bias`` and ``variance``; of 0-1 loss also
            ``unbiased_variance`` and ``biased_variance``, of which the variance is the difference.
        """
        columns: dict[str, Any] = {"model": list(self.names)}
        for name in ("error", "noise", "bias", "variance"):
            columns[name] = getattr(self, name).mean(axis=1)
        if self.loss == "0-1":
            columns["unbiased_variance"] = np.maximum(self.variance, 0).mean(axis=1)
            columns["biased_variance"] = np.maximum(-self.variance, 0).mean(axis=1)
        return new_frame(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a bar for each model, made of noise, bias and variance, and a dot for its error.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure.

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
        ax.set_yticks(places, self.names)
        ax.invert_yaxis()
        ax.set_xlabel("squared error" if squared else "share of wrong answers")
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

    Each model is fitted on ``n_sets`` training sets drawn from the rows, and its answers at other
    points are compared with each other and with the targets: by squared loss for regressors, by
    0-1 loss, as Domingos (2000) decomposes it, for classifiers.

    Bootstrap samples of one table stand in for fresh tables; their bias and variance are those of
    training on the rows at hand. Where rows are plenty, as in a simulation, draw small sets without
    replacement: ``bootstrap=False, set_size=200``.

    Parameters
    ----------
    estimators : estimator, list of (str, estimator), or dict of str to estimator
        Classifiers or regressors. Each ``random_state`` that they have is set anew for every
        training set, so what a model does at random is part of its variance.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    points : array-like of shape (n_points, n_features)
        Where the models answer: rows that are not among those of X.
    targets : array-like of shape (n_points,)
        The targets there.
    truth : array-like of shape (n_points,) or (n_points, n_classes), default=None
        What is known in a simulation: the expected target of each point, or the probabilities of
        its classes in sorted order. Only with it can noise be told from bias.
    n_sets : int, default=50
        Training sets, at least 2.
    set_size : float or int, default=1.0
        Rows of a training set, or their share.
    bootstrap : bool, default=True
        Draw rows with replacement. If not, sets have no row in common where there are enough.
    random_state : int, RandomState instance or None, default=None
        Draws the sets and the seeds of the models; each model gets the same ones.
    n_jobs : int, default=None
        Fits side by side by joblib; None means 1.

    Returns
    -------
    found : BiasVariance
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
    >>> found = bias_variance(
    ...     [("stump", DecisionTreeRegressor(max_depth=1)), ("tree", DecisionTreeRegressor())],
    ...     x[:5000], y[:5000], x[5000:], y[5000:], truth=expected[5000:],
    ...     set_size=100, bootstrap=False, random_state=0,
    ... )
    >>> stump, tree = found.to_frame().itertuples()
    >>> bool(stump.bias > tree.bias), bool(stump.variance < tree.variance)
    (True, True)
    """
    check_sparse(X)
    check_sparse(points, "points")
    models = named_models(estimators)
    classify = all_classifiers(models)
    check_consistent_length(X, y)
    check_consistent_length(points, targets)
    if np.ndim(y) != 1 or np.ndim(targets) != 1:
        raise ValueError("bias_variance decomposes the error of one target: y must have one axis")
    sets = training_sets(
        len(y), n_sets, set_size, check_random_state(random_state), bootstrap=bootstrap
    )
    answers = Parallel(n_jobs=n_jobs)(
        delayed(_answers)(model, X, y, points, *each) for _, model in models for each in sets
    )
    by_model = np.array(answers).reshape(len(models), n_sets, -1)
    decompose = _classes_parts if classify else _values_parts
    parts = decompose(by_model, np.asarray(y), np.asarray(targets), truth)
    names = tuple(name for name, _ in models)
    stacked = (np.array(column) for column in zip(*parts, strict=True))
    return BiasVariance(
        names, "0-1" if classify else "squared", n_sets, truth is not None, *stacked
    )


def _answers(model: Any, X: Any, y: Any, points: Any, rows: Rows, seed: int) -> Any:
    return np.asarray(fitted_on(model, X, y, rows, seed).predict(points))


def _values_parts(answers: Any, y: Any, targets: Any, truth: Any) -> list[Parts]:
    del y
    expected = None if truth is None else checked_truth(truth, len(targets), None)
    observed = np.asarray(targets, dtype=np.float64)
    if not np.isfinite(observed).all():
        raise ValueError("targets hold NaN or infinity")
    return [squared_parts(each, observed, expected) for each in answers]


def _classes_parts(answers: Any, y: Any, targets: Any, truth: Any) -> list[Parts]:
    classes = np.unique(np.concatenate([y, targets]))
    observed = np.searchsorted(classes, targets)
    if truth is None:
        chances = certain(observed, len(classes))
    else:
        chances = checked_truth(truth, len(targets), len(classes))
    numbers = np.searchsorted(classes, answers)
    return [zero_one_parts(each, observed, chances) for each in numbers]
