"""The variance of a forest, and the correlation of its trees, which bounds the variance from below.

Hastie, Tibshirani and Friedman (2009), section 15.4. With T(x) the prediction of a tree at x, over
random training sets Z and the randomness of the tree,

    Var T(x)                 = Var E[T | Z] + E Var[T | Z]     = s2(x)
    correlation of two trees = Var E[T | Z] / s2(x)            = rho(x)
    Var of a mean of L trees = rho s2 + (1 - rho) / L s2

Both terms are estimated by a one-way analysis of variance, with the training set as the factor.
With B the variance of the forests' predictions over training sets, and W the variance of the trees
within a forest, E Var[T | Z] is estimated by the mean of W, and Var E[T | Z] by B - W / L.
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

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse
from arboleda.diagnose._models import Rows, draw_training_sets, fit_on_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
MaxFeatures = int | float | str | None


@dataclass(frozen=True, eq=False, repr=False)
class ForestCorrelation(Result):
    """Result of `forest_correlation`: the variance of trees between and within training sets.

    Attributes
    ----------
    max_features : tuple
        The compared settings; the arrays have a row for each.
    n_trees : int
        Number of trees of a forest.
    between : ndarray of shape (n_settings, n_points)
        Variance of the mean tree over training sets, which more trees do not reduce.
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

    def _summarize(self) -> dict[str, Any]:
        return {
            "max_features": self.max_features,
            "n_trees": self.n_trees,
            "n_points": self.between.shape[1],
            "rho": _mean_of_known(self.rho).tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return means over the points as a pandas data frame with a row for each setting.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``max_features``, ``rho``, ``variance`` (of a tree), ``between``, ``within`` and
            ``forest_variance``. ``rho`` is the mean over the points where trees vary, NaN if there
            is none.
        """
        names = ("rho", "variance", "between", "within", "forest_variance")
        means = {name: _mean_of_known(getattr(self, name)) for name in names}
        return new_frame({"max_features": list(self.max_features), **means})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a box plot of the correlation at the points, with a box for each setting.

        See figure 15.9 of Hastie, Tibshirani and Friedman (2009).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        places = np.arange(1, len(self.max_features) + 1)
        known = [rho[~np.isnan(rho)] for rho in self.rho]
        ax.boxplot(known, positions=places, widths=0.5, flierprops={"ms": 2})
        ax.plot(places, _mean_of_known(self.rho), "o-", color="C2", lw=1, ms=4)
        ax.set_xticks(places, [str(setting) for setting in self.max_features])
        ax.set_xlabel("columns drawn at a node (max_features)")
        ax.set_ylabel("correlation of two trees")
        return ax


def _mean_of_known(values: Floats) -> Floats:
    """Return the mean of each row, ignoring NaN; NaN if all values are NaN."""
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
    """Estimate the correlation of a forest's trees, and the components of its variance.

    The forest is fitted on several training sets drawn from the rows without replacement; the sets
    are disjoint if there are enough rows. Overlapping sets are more similar than independent ones,
    so the correlation of the trees is then underestimated.

    Parameters
    ----------
    forest : estimator
        A forest or bagging estimator of this library or scikit-learn, with ``estimators_`` and a
        single target. For classifiers, the class probabilities of the trees are compared, and
        variances are summed over the classes.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    points : array-like of shape (n_points, n_features)
        Points at which the trees are compared: rows that are not in X.
    max_features : sequence, default=None
        Values of the parameter ``max_features`` to compare; None: that of the forest.
    n_sets : int, default=20
        Number of training sets, at least 2.
    set_size : float or int, default=0.5
        Number of rows of a training set, or their share.
    random_state : int, RandomState instance or None, default=None
        Seed of the training sets and of the forests; all settings get the same ones.

    Returns
    -------
    result : ForestCorrelation
        With the methods ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If y is constant, the forest has a single tree or several targets, or the training sets
        cannot be drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import RandomForestRegressor
    >>> from arboleda.diagnose import forest_correlation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 8))
    >>> y = X.sum(axis=1) + rng.normal(size=600)
    >>> forest = RandomForestRegressor(20, random_state=0)
    >>> result = forest_correlation(
    ...     forest, X[:500], y[:500], X[500:], max_features=[1, 8], n_sets=10, random_state=0
    ... )
    >>> one, all_of_them = result.to_frame().rho
    >>> bool(one < all_of_them)
    True
    """
    check_sparse(X)
    check_sparse(points, "points")
    check_consistent_length(X, y)
    sets = draw_training_sets(len(y), n_sets, set_size, check_random_state(random_state))
    target = np.asarray(y)
    if (target == target[:1]).all():
        raise ValueError(
            f"y is {target[:1].ravel().tolist()[0]!r} in all {len(target)} rows, so the trees do "
            "not vary and have no correlation: use a target with several values"
        )
    settings = (forest.get_params().get("max_features"),) if max_features is None else max_features
    if isinstance(settings, str | Real):
        raise TypeError(f"max_features must be a list of settings, such as [{settings!r}]")
    if len(settings) == 0:
        raise ValueError("max_features must be None or hold at least one setting, got none")
    parts = []
    for setting in settings:
        model = clone(forest)
        if max_features is not None:
            model.set_params(max_features=setting)
        parts.append(_estimate_components(model, X, y, points, sets))
    n_trees = parts[0][2]
    between, within = (np.array([part[k] for part in parts]) for k in range(2))
    return ForestCorrelation(tuple(settings), n_trees, between, within)


def _estimate_components(
    model: Any, X: Any, y: Any, points: Any, sets: list[tuple[Rows, int]]
) -> tuple[Floats, Floats, int]:
    """Estimate the variance between and within training sets; also return the number of trees."""
    means, variances = [], []
    for rows, seed in sets:
        fitted = fit_on_rows(model, X, y, rows, seed)
        predictions = _predict_by_tree(fitted, points)
        means.append(predictions.mean(axis=0))
        variances.append(predictions.var(axis=0, ddof=1))
    shapes = {mean.shape for mean in means}
    if len(shapes) > 1:
        raise ValueError("a training set lacks a class of the others: increase set_size")
    within = np.mean(variances, axis=0)
    between = np.var(means, axis=0, ddof=1) - within / len(predictions)
    # Sums over classes; the difference of two estimates can be negative.
    return np.maximum(between.sum(axis=1), 0.0), within.sum(axis=1), len(predictions)


def _predict_by_tree(fitted: Any, points: Any) -> Floats:
    """Predict by each tree: (trees, points, classes), or (trees, points, 1) in regression."""
    if getattr(fitted, "n_outputs_", 1) > 1 or len(getattr(fitted, "estimators_", ())) < 2:
        raise ValueError("forest_correlation compares at least two trees of one target")
    weights = getattr(fitted, "weights", None)
    if isinstance(weights, str) and weights != "uniform":
        raise ValueError(
            f"forest_correlation supports only unweighted means of trees, got weights={weights!r}: "
            "set weights='uniform'"
        )
    first = fitted.estimators_[0]
    # Members without names were fitted on arrays, and those of bagging on some of the columns.
    table = points if hasattr(first, "feature_names_in_") else np.asarray(points)
    columns = getattr(fitted, "estimators_features_", None)
    predictions = []
    for number, tree in enumerate(fitted.estimators_):
        X_tree = table if columns is None else _safe_indexing(table, columns[number], axis=1)
        outputs = tree.predict_proba(X_tree) if is_classifier(fitted) else tree.predict(X_tree)
        predictions.append(np.reshape(outputs, (len(outputs), -1)))
    return np.array(predictions, dtype=np.float64)
