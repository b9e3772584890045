"""A short list of rules that imitates an ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._numbers import percent
from arboleda.explain._best_subtrees import Judgement, best_rules, node_of_leaf
from arboleda.explain._surrogate import Surrogate, Tree, prepare_imitation, says_of
from arboleda.explain._surrogate_tree import check_size
from arboleda.tree import Condition
from arboleda.tree._rules import find_node_conditions

__all__ = ["ListedRule", "RuleList", "surrogate_rules"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ListedRule:
    """One rule of a list: it speaks for rows that no rule before it speaks for.

    Attributes
    ----------
    conditions : tuple of Condition
        All must hold; none in the last rule.
    prediction : object
        A class, or a number.
    coverage : float
        Share of the rows learned from that it speaks for.
    agreement : float or None
        Share of these that the ensemble gives the class; None for a number.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    coverage: float
    agreement: float | None

    def __str__(self) -> str:
        said = self.prediction
        text = f"{said:.6g}" if isinstance(said, float) else str(said)
        head = "if " + " and ".join(map(str, self.conditions)) + " then"
        facts = [f"{_share(self.coverage)} of the rows"]
        if self.agreement is not None:
            facts.append(f"agreement {_share(self.agreement)}")
        return f"{head if self.conditions else 'otherwise'} {text} ({'; '.join(facts)})"


@dataclass(frozen=True, eq=False)
class RuleList:
    """Rules in order; the first whose conditions hold speaks.

    Printed, it has one rule a line.

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
        """Say what the first rule says whose conditions hold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes, or values.
        """
        answers: Array = says_of(self.tree)[self.apply(X)]
        return answers

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the node of the rule that speaks for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        node : ndarray of int of shape (n_samples,)
        """
        return node_of_leaf(self.tree.tree_, list(self.nodes))[self.tree.apply(X)]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))


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
    """Find the short list of rules that imitates an ensemble best, and what its length costs.

    A tree is grown as for `surrogate_tree`. Each of its nodes is a rule: the conditions on the way
    to it, and what most of its rows are told. Of all lists of so many rules, exceptions before what
    they are exceptions to, the one is found that disagrees least with the ensemble. A list leaves
    to its last rule, "otherwise", all that a tree must part into leaves of one class: with classes
    it imitates better than a tree of as many leaves. With numbers it does not, for its last rule
    says the mean of all rows.

    Parameters
    ----------
    estimator : estimator
        Fitted: any classifier, or regressor of one target.
    X, y, X_test, y_test, answers
        As of `surrogate_tree`.
    max_rules : int, default=8
        Rules at most, with the last.
    test_size, categorical_features, random_state, n_jobs
        As of `surrogate_tree`.

    Returns
    -------
    Surrogate
        With a `RuleList` as ``model``, the ``curve`` of fidelity and errors by size, and its
        ``fidelity``.

    Raises
    ------
    ValueError, TypeError, NotFittedError
        As `surrogate_tree`.

    Notes
    -----
    The order is by the number of rows, exceptions first. That the list is the best is meant of the
    rows learned from, and of the grown tree's nodes.

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
    task = prepare_imitation(
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
    grown = task.grow(task.said, int(max_rules), task.margin)
    judge = task.judgement(grown, task.said)
    found = best_rules(judge, int(max_rules))
    curve = task.curve(task.answers_of(grown, found))
    nodes = tuple(found[max(found)])
    model = RuleList(_listed(judge, grown, nodes), grown, nodes)
    return Surrogate(model, curve, float(curve.fidelity[-1]))


def _listed(judge: Judgement, grown: Tree, nodes: tuple[int, ...]) -> tuple[ListedRule, ...]:
    """Write the rules, each with the rows that it speaks for."""
    conditions, said = find_node_conditions(grown), says_of(grown)
    speaker = node_of_leaf(grown.tree_, list(nodes))
    leaves = np.flatnonzero(grown.tree_.children_left < 0)
    rules = []
    for node in nodes:
        own = leaves[speaker[leaves] == node]
        count = float(judge.count[own].sum())
        agreement = None
        if judge.scale < 1.0:  # classes: the share whose mean has its 1 where the node has it
            right = judge.count[own] @ (judge.mean[own] @ judge.says[node])
            agreement = float(right / count) if count > 0.0 else 1.0
        rules.append(
            ListedRule(
                conditions=conditions[node],
                prediction=said[node].item() if hasattr(said[node], "item") else said[node],
                coverage=count / float(judge.count[0]),
                agreement=agreement,
            )
        )
    return tuple(rules)


def _share(share: float) -> str:
    return percent(share).replace("\N{NO-BREAK SPACE}", " ")
