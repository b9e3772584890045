"""Small trees and rule lists that approximate an ensemble."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Loss
from arboleda._utils.frames import new_frame
from arboleda._utils.numbers import percent
from arboleda._utils.results import NotebookDisplay, Result
from arboleda.explain._best_subtrees import (
    NodeLosses,
    find_best_rules,
    find_best_subtrees,
    find_enclosing_nodes,
)
from arboleda.explain._surrogate import Surrogate, Tree, compute_node_predictions, prepare_surrogate
from arboleda.plot import rule_list
from arboleda.tree import Condition, find_node_conditions, join_conditions

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ListedRule", "RuleList", "check_size", "surrogate_rules", "surrogate_tree"]


def surrogate_tree(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    answers: Any = None,
    max_leaves: int = 16,
    test_size: float = 0.25,
    categorical_features: Any = "from_dtype",
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> Surrogate:
    """Find the small tree that approximates an ensemble best, with fidelity by size.

    A tree with four times as many leaves is fitted to the ensemble's predictions: to its values, or
    to its labels, weighted by the margin of each label, because rows on which the ensemble is
    undecided cannot be approximated. For each size, the pruned tree that disagrees least with the
    ensemble is selected.

    Parameters
    ----------
    estimator : estimator
        Any fitted classifier, or single-target regressor.
    X : array-like, frame or sparse matrix of shape (n_rows, n_features)
        Rows to predict with the ensemble, preferably not its training rows. A forest reproduces the
        targets of its training rows, and a tree would fit their noise: give ``answers`` with them.
    y : array-like of shape (n_rows,), default=None
        True targets, for the errors of the curve only. The surrogate is not fitted to them.
    X_test : table, default=None
        Test rows, on which neither the ensemble nor the surrogate was fitted. None: ``test_size``
        of X is held out.
    y_test : array-like, default=None
        True targets of the test rows.
    answers : array-like of shape (n_rows, n_classes) or (n_rows,), default=None
        Predictions of the ensemble for X, to use instead of computing them: a forest's
        ``oob_decision_function_`` or ``oob_prediction_`` if X holds its training rows. Rows with
        NaN are left out.
    max_leaves : int, default=16
        Largest number of leaves; fewer if more would not improve the fidelity.
    test_size : float, default=0.25
        Share of X to hold out if there is no X_test.
    categorical_features : array-like or "from_dtype", default="from_dtype"
        As in `DecisionTreeClassifier`; "from_dtype" includes the columns that the estimator treated
        as categorical.
    random_state : int, RandomState or None, default=None
        Seed of the held-out rows.
    n_jobs : int, default=None
        Number of threads; None: all available cores.

    Returns
    -------
    Surrogate
        With the tree as ``model``, its ``fidelity``, and the ``curve`` of fidelity and errors by
        size.

    Raises
    ------
    ValueError
        If a parameter is out of range, shapes do not match, no rows are left, or the estimator has
        several targets.
    TypeError
        If the estimator is not an estimator.
    NotFittedError
        If it is not fitted.

    Notes
    -----
    The fidelity is the share of held-out rows, or rows of X_test, for which both predict the same
    class, or R2 of the ensemble's values. ``predict_proba`` of the model uses the weights of the
    labels: it measures the margin of the ensemble in a leaf, not the probability of the class.

    References
    ----------
    Craven, M. W., Shavlik, J. W. (1996), "Extracting tree-structured representations of trained
    networks", NIPS 8. Breiman, L., Shang, N. (1996), "Born again trees", technical report,
    University of California, Berkeley. Bohanec, M., Bratko, I. (1994), "Trading accuracy for
    simplicity in decision trees", Machine Learning 15.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from arboleda import RandomForestClassifier
    >>> from arboleda.explain import surrogate_tree
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X[:400], y[:400])
    >>> found = surrogate_tree(
    ...     forest, X[:400], y[:400], X_test=X[400:], y_test=y[400:],
    ...     answers=forest.oob_decision_function_, max_leaves=4,
    ... )
    >>> found.model.get_n_leaves(), round(found.fidelity, 2)
    (3, 0.93)
    """
    check_size("max_leaves", max_leaves)
    task = prepare_surrogate(
        estimator,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        answers=answers,
        test_size=test_size,
        random_state=random_state,
        categorical_features=categorical_features,
        n_jobs=n_jobs,
    )
    grown = task.grow(task.outputs, int(max_leaves), task.margin)
    found = find_best_subtrees(task.compute_node_losses(grown, task.outputs), int(max_leaves))
    curve = task.curve(task.predict_by_size(grown, found))
    model = copy(grown)
    loss: Loss = "squared_error" if task.classes is None else "misclassification"
    model.tree_ = grown.tree_.cut(np.array(found[max(found)], dtype=np.intp), loss)
    model.max_leaf_nodes = int(max_leaves)
    return Surrogate(model, curve, float(curve.fidelity[-1]))


def check_size(name: str, size: Any) -> None:
    """Check that a size is an integer of at least 2."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 2:
        raise ValueError(f"{name} must be an integer of at least 2, got {size!r}")


Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class ListedRule(NotebookDisplay):
    """One rule of a list: it applies to rows that no earlier rule applies to.

    Attributes
    ----------
    conditions : tuple of Condition
        All must hold; none in the last rule.
    prediction : object
        A class, or a number.
    coverage : float
        Share of the fitted rows that it applies to.
    agreement : float or None
        Share of these rows for which the ensemble predicts the class; None for a number.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    coverage: float
    agreement: float | None

    def _summarize(self) -> dict[str, Any]:
        return {
            "conditions": list(map(str, self.conditions)),
            "prediction": self.prediction,
            "coverage": self.coverage,
        }

    def __str__(self) -> str:
        prediction = self.prediction
        text = f"{prediction:.6g}" if isinstance(prediction, float) else str(prediction)
        head = f"if {join_conditions(self.conditions)} then"
        facts = [f"{_format_share(self.coverage)} of the rows"]
        if self.agreement is not None:
            facts.append(f"agreement {_format_share(self.agreement)}")
        return f"{head if self.conditions else 'otherwise'} {text} ({'; '.join(facts)})"


@dataclass(frozen=True, eq=False, repr=False)
class RuleList(Result):
    """Rules in order; the first one whose conditions hold applies.

    Its string form has one rule per line.

    Attributes
    ----------
    rules : tuple of ListedRule
        The last has no conditions.
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        The grown tree whose nodes the rules are.
    nodes : tuple of int
        Node of each rule, the root last.
    """

    rules: tuple[ListedRule, ...]
    tree: Tree
    nodes: tuple[int, ...]

    def predict(self, X: Any) -> Array:
        """Predict with the first rule whose conditions hold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes, or values.
        """
        predictions: Array = compute_node_predictions(self.tree)[self.apply(X)]
        return predictions

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the node of the rule that applies to each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        node : ndarray of int of shape (n_samples,)
        """
        return find_enclosing_nodes(self.tree.tree_, list(self.nodes))[self.tree.apply(X)]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))

    def _summarize(self) -> dict[str, Any]:
        return {"n_rules": len(self.rules), "otherwise": self.rules[-1].prediction}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per rule and its conditions as one text."""
        facts = ("prediction", "coverage", "agreement")
        rows = [
            {"conditions": join_conditions(rule.conditions) or "otherwise"}
            | {fact: getattr(rule, fact) for fact in facts}
            for rule in self.rules
        ]
        return new_frame(rows, columns=["conditions", *facts])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Write the rules on axes, one below the other.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to write on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        return rule_list(self, ax)


def surrogate_rules(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    answers: Any = None,
    max_rules: int = 8,
    test_size: float = 0.25,
    categorical_features: Any = "from_dtype",
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> Surrogate:
    """Find the short rule list that approximates an ensemble best, with fidelity by length.

    A tree is grown as for `surrogate_tree`. Each of its nodes is a rule: the conditions on the path
    to it, and the majority prediction of its rows. Among all lists of a given length, with
    exceptions before the rules that they refine, the one that disagrees least with the ensemble is
    selected. The last rule, "otherwise", covers everything that a tree must divide into leaves of
    one class: for classification, a list approximates better than a tree with as many leaves. For
    regression it does not, because its last rule predicts the mean of all rows.

    Parameters
    ----------
    estimator : estimator
        Any fitted classifier, or single-target regressor.
    X, y, X_test, y_test, answers
        As in `surrogate_tree`.
    max_rules : int, default=8
        Largest number of rules, including the last.
    test_size, categorical_features, random_state, n_jobs
        As in `surrogate_tree`.

    Returns
    -------
    Surrogate
        With a `RuleList` as ``model``, its ``fidelity``, and the ``curve`` of fidelity and errors
        by size.

    Raises
    ------
    ValueError, TypeError, NotFittedError
        As in `surrogate_tree`.

    Notes
    -----
    Rules are ordered by the number of rows, with exceptions first. The list is the best one for the
    fitted rows among the nodes of the grown tree.

    References
    ----------
    Quinlan, J. R. (1987), "Generating production rules from decision trees", IJCAI, for rules from
    a tree with a default; Rivest, R. L. (1987), "Learning decision lists", Machine Learning 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from arboleda import RandomForestClassifier
    >>> from arboleda.explain import surrogate_rules
    >>> data = load_breast_cancer(as_frame=True)
    >>> X, y = data.data, data.target_names[data.target]
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X[:300], y[:300])
    >>> found = surrogate_rules(forest, X[300:], y[300:], max_rules=3, random_state=0)
    >>> len(found.model.rules), found.model.rules[-1].prediction
    (3, 'benign')
    """
    check_size("max_rules", max_rules)
    task = prepare_surrogate(
        estimator,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        answers=answers,
        test_size=test_size,
        random_state=random_state,
        categorical_features=categorical_features,
        n_jobs=n_jobs,
    )
    grown = task.grow(task.outputs, int(max_rules), task.margin)
    node_losses = task.compute_node_losses(grown, task.outputs)
    found = find_best_rules(node_losses, int(max_rules))
    curve = task.curve(task.predict_by_size(grown, found))
    nodes = tuple(found[max(found)])
    model = RuleList(_make_rules(node_losses, grown, nodes), grown, nodes)
    return Surrogate(model, curve, float(curve.fidelity[-1]))


def _make_rules(
    node_losses: NodeLosses, grown: Tree, nodes: tuple[int, ...]
) -> tuple[ListedRule, ...]:
    """Make the rules with their shares of rows."""
    conditions, values = find_node_conditions(grown), compute_node_predictions(grown)
    rule_node = find_enclosing_nodes(grown.tree_, list(nodes))
    leaves = np.flatnonzero(grown.tree_.children_left < 0)
    rules = []
    for node in nodes:
        own = leaves[rule_node[leaves] == node]
        count = float(node_losses.count[own].sum())
        agreement = None
        if node_losses.scale < 1.0:  # classes: the share of rows with the class of the node
            right = node_losses.count[own] @ (node_losses.mean[own] @ node_losses.predictions[node])
            agreement = float(right / count) if count > 0.0 else 1.0
        rules.append(
            ListedRule(
                conditions=conditions[node],
                prediction=values[node].item() if hasattr(values[node], "item") else values[node],
                coverage=count / float(node_losses.count[0]),
                agreement=agreement,
            )
        )
    return tuple(rules)


def _format_share(share: float) -> str:
    return percent(share).replace("\N{NO-BREAK SPACE}", " ")
