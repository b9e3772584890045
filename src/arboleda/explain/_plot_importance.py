"""Importances of the columns as a bar plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arboleda.explain._importance import Importance
from arboleda.explain._importance import importance as importance_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importance"]


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
    measured = importance if isinstance(importance, Importance) else importance_of(importance)
    assert isinstance(measured, Importance)  # a dict is made for several scores alone
    return measured.plot(ax, n_features=n_features)
