"""The variance of a forest, and the correlation of its trees that bounds it.

Hastie, Tibshirani and Friedman (2009), section 15.4. With T(x) the answer of one tree at x, over
draws of the training set Z and of the tree's own choices,

    Var T(x)                 = Var E[T | Z] + E Var[T | Z]     = s2(x)
    correlation of two trees = Var E[T | Z] / s2(x)            = rho(x)
    Var of a mean of L trees = rho s2 + (1 - rho) / L s2

Both parts are estimated as in the analysis of variance of one factor, the training set: with B the
variance of the forests' answers over training sets, and W the variance of trees within a forest,
E Var[T | Z] is estimated by the mean of W, and Var E[T | Z] by B - W / L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_consistent_length

from arboleda._figures import axes_or_new
from arboleda._frames import new_frame
from arboleda._sparse import check_sparse
from arboleda.diagnose._training_sets import Rows, fitted_on, training_sets

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
MaxFeatures = int | float | str | None


@dataclass(frozen=True, eq=False)
class ForestCorrelation:
    """How alike the trees of forests are, and what that leaves of their variance.

    Attributes
    ----------
    max_features : tuple
        The settings that were compared; one entry, or one row, of the arrays for each.
    n_trees : int
        Trees of a forest.
    between : ndarray of shape (n_settings, n_points)
        Variance of the mean tree over training sets: what no number of trees averages away.
    within : ndarray of shape (n_settings, n_points)
        Variance of the trees of one training set.
    """

    max_features: tuple[MaxFeatures, ...]
    n_trees: int
    between: Floats
    within: Floats

    @property
    def variance(self) -> Floats:
        """Variance of one tree at each point."""
        return self.between + self.within

    @property
    def rho(self) -> Floats:
        """Correlation of two trees at each point; NaN where trees do not vary."""
        with np.errstate(invalid="ignore"):
            return self.between / self.variance

    @property
    def forest_variance(self) -> Floats:
        """Variance of the forest at each point: rho s2 + (1 - rho) / L s2."""
        return self.between + self.within / self.n_trees

    def to_frame(self) -> pd.DataFrame:
        """Return means over the points as a pandas data frame, one row a setting.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``max_features``, ``rho``, ``variance`` (of a tree), ``between``, ``within`` and
            ``forest_variance``. ``rho`` is the mean over the points where trees vary, NaN where
            there is none.
        """
        names = ("rho", "variance", "between", "within", "forest_variance")
        means = {name: _known_mean(getattr(self, name)) for name in names}
        return new_frame({"max_features": list(self.max_features), **means})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how the correlation at the points is spread, a box for each setting.

        After figure 15.9 of Hastie, Tibshirani and Friedman (2009).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        places = np.arange(1, len(self.max_features) + 1)
        known = [rho[~np.isnan(rho)] for rho in self.rho]
        ax.boxplot(known, positions=places, widths=0.5, flierprops={"ms": 2})
        ax.plot(places, _known_mean(self.rho), "o-", color="C2", lw=1, ms=4)
        ax.set_xticks(places, [str(setting) for setting in self.max_features])
        ax.set_xlabel("columns drawn at a node (max_features)")
        ax.set_ylabel("correlation of two trees")
        return ax


def _known_mean(values: Floats) -> Floats:
    """Mean of each row over what is not NaN; NaN where nothing is."""
    known = ~np.isnan(values)
    sums, counts = np.sum(values, axis=1, where=known), known.sum(axis=1)
    means: Floats = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def forest_correlation(
    forest: Any,
    X: Any,
    y: Any,
    points: Any,
    *,
    max_features: Sequence[MaxFeatures] | None = None,
    n_sets: int = 20,
    set_size: float | int = 0.5,
    random_state: Any = None,
) -> ForestCorrelation:
    """Estimate the correlation of a forest's trees, and the parts of its variance.

    The forest is fitted on several training sets drawn from the rows without replacement; the
    sets have no row in common where there are enough. Sets that share rows are more alike than
    fresh ones, and the trees' correlation is then estimated too low.

    Parameters
    ----------
    forest : estimator
        A forest or bagging, of this library or scikit-learn's: it has ``estimators_`` and learns
        one target. Of a classifier the class shares of the trees are compared, and variances
        added over the classes.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    points : array-like of shape (n_points, n_features)
        Where the trees are compared: rows that are not among those of X.
    max_features : sequence, default=None
        Settings of the parameter ``max_features`` to compare; None: the forest as it is.
    n_sets : int, default=20
        Training sets, at least 2.
    set_size : float or int, default=0.5
        Rows of a training set, or their share.
    random_state : int, RandomState instance or None, default=None
        Draws the sets and the seeds of the forests; each setting gets the same ones.

    Returns
    -------
    found : ForestCorrelation
        With the methods ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If y is the same in all rows, so that trees cannot vary; the forest has one tree or several
        targets; or the training sets cannot be drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import RandomForestRegressor
    >>> from arboleda.diagnose import forest_correlation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 8))
    >>> y = X.sum(axis=1) + rng.normal(size=600)
    >>> forest = RandomForestRegressor(20, random_state=0)
    >>> found = forest_correlation(
    ...     forest, X[:500], y[:500], X[500:], max_features=[1, 8], n_sets=10, random_state=0
    ... )
    >>> one, all_of_them = found.to_frame().rho
    >>> bool(one < all_of_them)
    True
    """
    check_sparse(X)
    check_sparse(points, "points")
    check_consistent_length(X, y)
    sets = training_sets(len(y), n_sets, set_size, check_random_state(random_state))
    target = np.asarray(y)
    if (target == target[:1]).all():
        raise ValueError(
            f"y is {target[:1].ravel().tolist()[0]!r} in all {len(target)} rows: trees that learn "
            "it do not vary, and have no correlation; give a target of several values"
        )
    settings = (forest.get_params().get("max_features"),) if max_features is None else max_features
    if isinstance(settings, str | Real):
        raise TypeError(f"max_features must be a list of settings, as [{settings!r}]")
    if len(settings) == 0:
        raise ValueError("max_features names no setting to compare: leave it out, or give some")
    parts = []
    for setting in settings:
        model = clone(forest)
        if max_features is not None:
            model.set_params(max_features=setting)
        parts.append(_components(model, X, y, points, sets))
    n_trees = parts[0][2]
    between, within = (np.array([part[k] for part in parts]) for k in range(2))
    return ForestCorrelation(tuple(settings), n_trees, between, within)


def _components(
    model: Any, X: Any, y: Any, points: Any, sets: list[tuple[Rows, int]]
) -> tuple[Floats, Floats, int]:
    """Variance between training sets, that of trees within one, and the number of trees."""
    means, variances = [], []
    for rows, seed in sets:
        fitted = fitted_on(model, X, y, rows, seed)
        answers = _answers(fitted, points)
        means.append(answers.mean(axis=0))
        variances.append(answers.var(axis=0, ddof=1))
    shapes = {mean.shape for mean in means}
    if len(shapes) > 1:
        raise ValueError("a training set lacks a class of the others: draw larger ones (set_size)")
    within = np.mean(variances, axis=0)
    between = np.var(means, axis=0, ddof=1) - within / len(answers)
    # Over the classes, if there are any; the difference of two estimates can fall below 0.
    return np.maximum(between.sum(axis=1), 0.0), within.sum(axis=1), len(answers)


def _answers(fitted: Any, points: Any) -> Floats:
    """Answer of each tree: (trees, points, classes), or (trees, points, 1) in regression."""
    if getattr(fitted, "n_outputs_", 1) > 1 or len(getattr(fitted, "estimators_", ())) < 2:
        raise ValueError("forest_correlation compares at least two trees of one target")
    weights = getattr(fitted, "weights", None)
    if isinstance(weights, str) and weights != "uniform":
        raise ValueError(
            f"forest_correlation is about the plain mean of trees, and weights={weights!r} makes "
            "it a weighted one: set weights='uniform'"
        )
    first = fitted.estimators_[0]
    # Members that know no names were fitted on arrays, those of bagging on some of the columns.
    table = points if hasattr(first, "feature_names_in_") else np.asarray(points)
    columns = getattr(fitted, "estimators_features_", None)
    answers = []
    for number, tree in enumerate(fitted.estimators_):
        part = table if columns is None else _safe_indexing(table, columns[number], axis=1)
        found = tree.predict_proba(part) if is_classifier(fitted) else tree.predict(part)
        answers.append(np.reshape(found, (len(found), -1)))
    return np.array(answers, dtype=np.float64)
