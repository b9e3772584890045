"""Feature importance of a fitted model, with standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from arboleda._utils.frames import new_frame
from arboleda._utils.results import Result
from arboleda._utils.sparse import check_sparse
from arboleda.explain._permuted_scores import compute_permuted_scores, read_column_groups
from arboleda.explain._rows import read_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Importance", "importance", "plot_importance"]

Floats = npt.NDArray[np.float64]
Kind = Literal["impurity", "permutation", "oob_permutation"]


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Result):
    """Importance of each column or group of columns, as returned by `importance`.

    Attributes
    ----------
    feature_names : tuple of str
        The columns, in the order of the table, or the groups.
    value : ndarray of shape (n_features,)
        Their importances.
    standard_error : ndarray of shape (n_features,)
        Standard errors of the importances; NaN where unknown. The notes of `importance` describe
        which variation they include.
    kind : {"impurity", "permutation", "oob_permutation"}
        How they were measured.
    scoring : str or None
        Name of the score that decreases when a column is permuted; None for other kinds.
    """

    feature_names: tuple[str, ...]
    value: Floats
    standard_error: Floats
    kind: Kind
    scoring: str | None = None

    def _summarize(self) -> dict[str, Any]:
        order = np.argsort(-self.value, kind="stable")
        return {
            "kind": self.kind,
            "n_features": len(self.feature_names),
            "most_important": [self.feature_names[j] for j in order[:3]],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per column as a pandas data frame, the most important first.

        Returns
        -------
        frame : pandas.DataFrame
            ``feature``, ``value`` and ``standard_error``.
        """
        frame = new_frame(
            {
                "feature": list(self.feature_names),
                "value": self.value,
                "standard_error": self.standard_error,
            }
        )
        return frame.sort_values("value", ascending=False, kind="stable", ignore_index=True)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = 20) -> Axes:
        """Plot the importances as bars with standard errors: see `arboleda.plot.importance`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: those of a new figure.
        n_features : int, default=20
            Largest number of columns to draw; None: as many as fit.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        from arboleda import plot

        return plot.importance(self, ax, n_features=n_features)


def importance(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: Literal["auto", "impurity", "permutation", "oob_permutation"] = "auto",
    scoring: Any = None,
    n_repeats: int = 5,
    groups: Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]] | None = None,
    sample_weight: Any = None,
    random_state: Any = None,
) -> Importance | dict[str, Importance]:
    """Measure the importance of each column for a fitted model.

    There are three measures, with different meanings:

    - ``"impurity"``: how much the splits on a column decreased the impurity of the training rows
      (Breiman et al. 1984, section 5.3.4), averaged over the trees. It is free, but favours columns
      with many distinct values and includes overfitting.
    - ``"permutation"``: how much a score on held-out rows decreases when the column's values are
      shuffled (Breiman 2001, section 10; Fisher, Rudin and Dominici 2019, section 3.2), for any
      estimator.
    - ``"oob_permutation"``: the same for each tree of a forest of this library, on its out-of-bag
      rows.

    Parameters
    ----------
    estimator : estimator
        A fitted scikit-learn estimator; for ``"impurity"`` one with ``feature_importances_``, for
        ``"oob_permutation"`` a forest.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features), default=None
        For ``"permutation"`` held-out rows, for ``"oob_permutation"`` the training rows; not needed
        for ``"impurity"``.
    y : array-like of shape (n_samples,), default=None
        Targets of the rows.
    kind : {"auto", "impurity", "permutation", "oob_permutation"}, default="auto"
        "auto": permutation if rows are given, else impurity.
    scoring : str, callable, or sequence of str, default=None
        For ``"permutation"``: the name of a scikit-learn scorer, or a scorer ``f(estimator, X,
        y)``; several names return one importance each. None: accuracy, or R².
    n_repeats : int, default=5
        For ``"permutation"``: number of shuffles of each column.
    groups : mapping of str to sequence, or sequence of sequences, default=None
        For ``"permutation"``: columns, by names or indices, that are shuffled together in the same
        order. Shuffling only one of two redundant columns costs little; shuffling both shows their
        joint importance. Columns in no group are shuffled alone.
    sample_weight : array-like of shape (n_samples,), default=None
        For ``"permutation"``: weights of rows in the score.
    random_state : int, RandomState or None, default=None
        For ``"permutation"``: seed of the shuffles.

    Returns
    -------
    importance : Importance, or dict of str to Importance
        A dict keyed by scorer name if ``scoring`` is a sequence.

    Raises
    ------
    ValueError
        If the kind needs rows or an attribute that is absent, a kind, score or column does not
        exist, a column is in two groups, or there are fewer than 2 rows.
    NotFittedError
        If the estimator is not fitted.

    Notes
    -----
    The standard errors mean:

    - ``"impurity"``: standard deviation over the trees, divided by the square root of their number:
      the distance from the importance of an infinite forest on the same rows. It does not include
      the sampling of the rows. NaN where the importance is not a mean over trees, as in boosting.
    - ``"permutation"`` with named scores: variation over held-out rows and shuffles, for the model
      as it is. It is a jackknife over 20 blocks of rows: the rows are divided into blocks in the
      order of y, block b being every 20th of them, and the importance I(-b) is recomputed from the
      same predictions without the rows of the block and those that received values from it; the
      error is sqrt(19/20 sum_b (I(-b) - mean)^2) (Efron and Stein 1981). NaN where the score of the
      remaining rows is undefined.
    - ``"permutation"`` with a callable: standard deviation over the repeats, divided by the square
      root of their number: variation over shuffles of these rows only.
    - ``"oob_permutation"``: as for ``"impurity"``.

    References
    ----------
    Breiman, L. (2001), "Random forests", Machine Learning 45. Fisher, A., Rudin, C., Dominici, F.
    (2019), "All models are wrong, but many are useful", Journal of Machine Learning Research 20.
    Efron, B., Stein, C. (1981), "The jackknife estimate of variance", Annals of Statistics 9.

    Examples
    --------
    >>> from arboleda import RandomForestClassifier, explain
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> found = explain.importance(
    ...     forest, X[1::2], y[1::2], random_state=0,
    ...     groups={"petal": ["petal length (cm)", "petal width (cm)"]},
    ... )
    >>> found.to_frame()["feature"].tolist()[0]
    'petal'
    """
    check_sparse(X)
    _check_fitted(estimator)
    if kind == "auto":
        kind = "impurity" if X is None else "permutation"
    if kind == "impurity":
        _check_unused(kind, scoring=scoring, groups=groups, sample_weight=sample_weight)
        return _compute_impurity_importance(estimator)
    if kind not in {"permutation", "oob_permutation"}:
        raise ValueError(
            f"kind must be 'auto', 'impurity', 'permutation' or 'oob_permutation', got {kind!r}"
        )
    if X is None or y is None:
        rows = "held-out rows" if kind == "permutation" else "the training rows"
        raise ValueError(f"kind={kind!r} needs X and y: {rows} and their targets")
    if kind == "oob_permutation":
        _check_unused(kind, scoring=scoring, groups=groups, sample_weight=sample_weight)
        return _compute_oob_importance(estimator, X, y)
    table = read_rows(X, estimator)
    names, columns = read_column_groups(table, groups)
    found = compute_permuted_scores(
        estimator, table, y, columns, scoring, n_repeats, sample_weight, random_state
    )
    importances = {
        title: Importance(names, value, error, kind, title.replace("_", " "))
        for title, (value, error) in found.items()
    }
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return next(iter(importances.values()))
    return importances


def plot_importance(
    importance: Any, ax: Axes | None = None, *, n_features: int | None = 20
) -> Axes:
    """Plot the importances of the columns as bars with standard errors, the largest on top.

    Parameters
    ----------
    importance : Importance or fitted estimator
        The result of `arboleda.explain.importance`, by whichever kind. For an estimator the
        impurity importance is measured first: ``importance(estimator)``.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.
    n_features : int, default=20
        Largest number of columns to draw; None: as many as fit.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If ``n_features`` is below 1, or the estimator has no ``feature_importances_``.
    NotFittedError
        If the estimator is not fitted.

    See Also
    --------
    arboleda.plot.importance : The same plot of an `Importance`.

    Examples
    --------
    >>> from arboleda import RandomForestClassifier
    >>> from arboleda.explain import plot_importance
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_importance(RandomForestClassifier(20, random_state=0).fit(X, y), n_features=3)
    >>> [label.get_text() for label in ax.get_yticklabels()][0]
    'petal length (cm)'
    """
    measured = importance if isinstance(importance, Importance) else _measure_importance(importance)
    assert isinstance(measured, Importance)  # several scorers alone return a dict
    return measured.plot(ax, n_features=n_features)


# The parameter of `plot_importance` hides the name of the function.
_measure_importance = importance


def _check_fitted(estimator: Any) -> None:
    name = type(estimator).__name__
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(f"this {name} is not fitted yet: call fit first") from error


def _check_unused(kind: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is only valid for kind='permutation', not for kind={kind!r}")


def _compute_impurity_importance(estimator: Any) -> Importance:
    if not hasattr(estimator, "feature_importances_"):
        raise ValueError(
            f"{type(estimator).__name__} has no feature_importances_: give X and y to measure "
            "permutation importance, or pass only the last step of a pipeline"
        )
    value = np.asarray(estimator.feature_importances_, dtype=np.float64)
    names = getattr(estimator, "feature_names_in_", None)
    texts = [f"x[{j}]" for j in range(len(value))] if names is None else list(map(str, names))
    return Importance(tuple(texts), value, _compute_tree_errors(estimator, value), "impurity")


def _compute_tree_errors(estimator: Any, value: Floats) -> Floats:
    """Compute standard errors over the trees if the importance is their mean; NaN otherwise."""
    unknown = np.full(len(value), np.nan)
    trees = getattr(estimator, "estimators_", None)
    if trees is None or np.ndim(trees) != 1 or len(trees) < 2:
        return unknown
    if not all(hasattr(tree, "feature_importances_") for tree in trees):
        return unknown
    each = [np.asarray(tree.feature_importances_, dtype=np.float64) for tree in trees]
    if any(len(one) != len(value) for one in each):
        return unknown
    # Trees without a split have no importances and are left out of the mean.
    grown = np.array([one for one in each if one.any()]).reshape(-1, len(value))
    if len(grown) < 2 or not np.allclose(grown.mean(axis=0), value, rtol=1e-6, atol=1e-9):
        return unknown
    error: Floats = grown.std(axis=0, ddof=1) / np.sqrt(len(grown))
    return error


def _compute_oob_importance(forest: Any, X: Any, y: Any) -> Importance:
    if not hasattr(forest, "oob_permutation_importance"):
        raise ValueError(
            f"{type(forest).__name__} has no oob_permutation_importance, unlike the forests of "
            "arboleda: use kind='permutation' on held-out rows"
        )
    found = forest.oob_permutation_importance(X, y)
    names = read_rows(X, forest).names
    return Importance(names, found.mean, found.standard_error, "oob_permutation")
