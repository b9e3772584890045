"""What each column is worth to a model, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from arboleda._frames import new_frame
from arboleda._sparse import check_sparse
from arboleda.explain._column_groups import column_groups
from arboleda.explain._permuted_scores import permuted_scores
from arboleda.explain._rows import read_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Importance", "importance"]

Floats = npt.NDArray[np.float64]
Kind = Literal["impurity", "permutation", "oob_permutation"]


@dataclass(frozen=True, eq=False)
class Importance:
    """What `importance` returns: one number for each column, or each group of columns.

    Attributes
    ----------
    feature_names : tuple of str
        The columns, in the order of the table, or the groups.
    value : ndarray of shape (n_features,)
        Their importances.
    standard_error : ndarray of shape (n_features,)
        How far the values may be off by chance; NaN where that is not known. Of what chance,
        `importance` tells.
    kind : {"impurity", "permutation", "oob_permutation"}
        How they were measured.
    scoring : str or None
        The score that falls when a column is permuted, in words; None for other kinds.
    """

    feature_names: tuple[str, ...]
    value: Floats
    standard_error: Floats
    kind: Kind
    scoring: str | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row a column as a pandas data frame, the most important first.

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
        """Draw the importances as bars with their errors: see `arboleda.plot.importance`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure.
        n_features : int, default=20
            Columns to draw at most; None: as many as fit.

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
    """Measure what each column is worth to a fitted model.

    Three measures, which answer different questions:

    - ``"impurity"``: how much the splits by a column lowered the impurity of the training rows
      (Breiman et al. 1984, section 5.3.4), the mean over the trees. Free, but it favours columns
      of many values, and what the trees learned by heart counts.
    - ``"permutation"``: how much a score on rows held out falls when the column's values are
      shuffled among them (Breiman 2001, section 10; Fisher, Rudin and Dominici 2019, section 3.2),
      for any estimator.
    - ``"oob_permutation"``: the same for each tree of a forest of this library, on the training
      rows that it left out.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of scikit-learn's kind; for ``"impurity"`` one with
        ``feature_importances_``, for ``"oob_permutation"`` a forest.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features), default=None
        For ``"permutation"`` rows that the model did not learn from, for ``"oob_permutation"``
        those of `fit`; not needed for ``"impurity"``.
    y : array-like of shape (n_samples,), default=None
        Their targets.
    kind : {"auto", "impurity", "permutation", "oob_permutation"}, default="auto"
        "auto": by permutation if rows are given, else by impurity.
    scoring : str, callable, or sequence of str, default=None
        For ``"permutation"``: a name of a scorer of scikit-learn, or a scorer
        ``f(estimator, X, y)``; several names give as many importances. None: accuracy, or R².
    n_repeats : int, default=5
        For ``"permutation"``: how often each column is shuffled.
    groups : mapping of str to sequence, or sequence of sequences, default=None
        For ``"permutation"``: columns, by names or numbers, to be shuffled together, in the same
        order. A column that says what another says too loses little when it alone is shuffled;
        the two together show what both are worth. Columns in no group stay alone.
    sample_weight : array-like of shape (n_samples,), default=None
        For ``"permutation"``: weights of rows in the score.
    random_state : int, RandomState or None, default=None
        For ``"permutation"``: draws the orders.

    Returns
    -------
    importance : Importance, or dict of str to Importance
        A dict by the names of scorers if ``scoring`` is a sequence.

    Raises
    ------
    ValueError
        If the kind needs rows or an attribute that is not there, or there is no such kind, score
        or column, a column is in two groups, or there are fewer than 2 rows.
    NotFittedError
        If the estimator is not fitted.

    Notes
    -----
    What the standard error means:

    - ``"impurity"``: standard deviation over the trees, divided by the root of their number: how
      far the importance is from that of a forest of ever more trees on the same rows. It says
      nothing of other rows. NaN where the importance is no mean over trees, as in boosting.
    - ``"permutation"`` by named scores: of other held-out rows and other shuffles, for the model
      as it is. It is the jackknife's over 20 blocks of rows: the rows are parted into blocks in
      the order of y, block b being every 20th of them, and the importance I(-b) is found again
      from the same answers without the rows of the block and those that got their values from
      it; the error is sqrt(19/20 sum_b (I(-b) - mean)^2) (Efron and Stein 1981). NaN where the
      score of the rows left is not defined.
    - ``"permutation"`` by a callable: standard deviation over the repeats, divided by the root of
      their number: of other shuffles of these rows alone.
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
        _not_used(kind, scoring=scoring, groups=groups, sample_weight=sample_weight)
        return _by_impurity(estimator)
    if kind not in {"permutation", "oob_permutation"}:
        raise ValueError(
            f"kind={kind!r}: choose 'auto', 'impurity', 'permutation' or 'oob_permutation'"
        )
    if X is None or y is None:
        rows = "rows that it did not learn from" if kind == "permutation" else "the training rows"
        raise ValueError(f"kind={kind!r} needs X and y: {rows} and their targets")
    if kind == "oob_permutation":
        _not_used(kind, scoring=scoring, groups=groups, sample_weight=sample_weight)
        return _out_of_bag(estimator, X, y)
    table = read_rows(X, estimator)
    names, columns = column_groups(table, groups)
    found = permuted_scores(
        estimator, table, y, columns, scoring, n_repeats, sample_weight, random_state
    )
    importances = {
        title: Importance(names, value, error, kind, title.replace("_", " "))
        for title, (value, error) in found.items()
    }
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return next(iter(importances.values()))
    return importances


def _check_fitted(estimator: Any) -> None:
    name = type(estimator).__name__
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(f"this {name} is not fitted yet: call its fit first") from error


def _not_used(kind: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} belongs to kind='permutation', not to kind={kind!r}")


def _by_impurity(estimator: Any) -> Importance:
    if not hasattr(estimator, "feature_importances_"):
        raise ValueError(
            f"{type(estimator).__name__} has no feature_importances_: give X and y to measure by "
            "permutation, or the last step of a pipeline alone"
        )
    value = np.asarray(estimator.feature_importances_, dtype=np.float64)
    names = getattr(estimator, "feature_names_in_", None)
    texts = [f"x[{j}]" for j in range(len(value))] if names is None else list(map(str, names))
    return Importance(tuple(texts), value, _over_trees(estimator, value), "impurity")


def _over_trees(estimator: Any, value: Floats) -> Floats:
    """Standard errors over the trees where the importance is their mean, scaled to sum to 1."""
    unknown = np.full(len(value), np.nan)
    trees = getattr(estimator, "estimators_", None)
    if trees is None or np.ndim(trees) != 1 or len(trees) < 2:
        return unknown
    if not all(hasattr(tree, "feature_importances_") for tree in trees):
        return unknown
    each = [np.asarray(tree.feature_importances_, dtype=np.float64) for tree in trees]
    if any(len(one) != len(value) for one in each):
        return unknown
    # Trees without a split have no importances to share; they are no part of the mean.
    grown = np.array([one for one in each if one.any()]).reshape(-1, len(value))
    if len(grown) < 2 or not np.allclose(grown.mean(axis=0), value, rtol=1e-6, atol=1e-9):
        return unknown
    error: Floats = grown.std(axis=0, ddof=1) / np.sqrt(len(grown))
    return error


def _out_of_bag(forest: Any, X: Any, y: Any) -> Importance:
    if not hasattr(forest, "oob_permutation_importance"):
        raise ValueError(
            f"{type(forest).__name__} has no oob_permutation_importance, which arboleda's forests "
            "have: measure by kind='permutation' on rows held out"
        )
    found = forest.oob_permutation_importance(X, y)
    names = read_rows(X, forest).names
    return Importance(names, found.mean, found.standard_error, "oob_permutation")
