"""Conversion of a tree to a list of rules, one per leaf.

On the path from the root to a leaf the splits on one column are merged: thresholds into one
interval, sets of categories into one set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, Literal

from arboleda._tree_rendering.boxes import MOST_LEVELS, quoted, subset
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.numbers import clip, percent
from arboleda._utils.results import NotebookDisplay, Result
from arboleda._utils.text import plot_escaped
from arboleda.tree._tree_view import TreeView, view_tree

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Condition", "Rule", "Rules", "extract_rules", "find_node_conditions", "join_conditions"]

_GENERIC = "x[{}]"
_VARIANCE = ("squared_error", "friedman_mse")  # criteria whose impurity is the variance


@dataclass(frozen=True)
class Condition:
    """Condition of a rule on one column.

    Attributes
    ----------
    feature : int
        Index of the column.
    name : str
        Name of the column.
    low, high : float
        A number x satisfies the condition if ``low < x <= high``. Both are infinite for categories.
    levels : tuple of str or None
        The categories that satisfy the condition, or that violate it if ``negated``; None for a
        number.
    negated : bool
        Whether the condition is "not in ``levels``", which unseen categories also satisfy.
    missing : bool
        Whether missing values satisfy it.
    shows_missing : bool
        Whether the text mentions missing values: true if the column has some in training.
    """

    feature: int
    name: str
    low: float = -inf
    high: float = inf
    levels: tuple[str, ...] | None = None
    negated: bool = False
    missing: bool = True
    shows_missing: bool = False

    @property
    def only_missing(self) -> bool:
        """Whether only missing values can satisfy the condition."""
        return self.levels is None and self.low >= self.high

    @property
    def has_two_parts(self) -> bool:
        """Whether the text is of the form "... or missing"."""
        return self.missing and self.shows_missing and not self.only_missing

    def __str__(self) -> str:
        if self.only_missing:
            return f"{self.name} is missing" if self.missing else f"{self.name} is nothing"
        text = self._numbers() if self.levels is None else self._categories(self.levels)
        return f"{text} or missing" if self.has_two_parts else text

    def _numbers(self) -> str:
        if self.low == -inf and self.high == inf:
            return f"{self.name} is anything" if self.missing else f"{self.name} is present"
        if self.low == -inf:
            return f"{self.name} <= {self.high:.6g}"
        if self.high == inf:
            return f"{self.name} > {self.low:.6g}"
        return f"{self.low:.6g} < {self.name} <= {self.high:.6g}"

    def _categories(self, levels: tuple[str, ...]) -> str:
        if len(levels) == 1:
            return f"{self.name} {'!=' if self.negated else '='} {quoted(levels[0])}"
        return f"{self.name} {'not in' if self.negated else 'in'} {subset(levels, MOST_LEVELS)}"


def join_conditions(conditions: Sequence[Condition]) -> str:
    """Write conditions that must all hold; one that missing values satisfy, too, gets brackets."""
    several = len(conditions) > 1
    return " and ".join(
        f"({one})" if several and one.has_two_parts else str(one) for one in conditions
    )


@dataclass(frozen=True, repr=False)
class Rule(NotebookDisplay):
    """One leaf of a tree: the conditions that lead to it and its prediction.

    Attributes
    ----------
    conditions : tuple of Condition
        At most one per column, in the order of the first split on it; all must hold.
    prediction : object
        The predicted class or number; a tuple of them if there are several targets.
    support : float
        Share of the training rows in the leaf.
    n_samples : int
        Number of training rows in the leaf.
    confidence : float, tuple or None
        Share of the predicted class in the leaf, by weight; None for a number.
    lift : float, tuple or None
        Confidence, divided by the share of the class in the whole table; None for a number.
    impurity : float
        Impurity of the leaf.
    deviation : float or None
        Standard deviation in the leaf, if the impurity is the variance of one number.
    leaf : int
        Index of the leaf in the arrays of ``tree_``.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    support: float
    n_samples: int
    confidence: Any
    lift: Any
    impurity: float
    deviation: float | None
    leaf: int

    def _summarize(self) -> dict[str, Any]:
        return {
            "conditions": list(map(str, self.conditions)),
            "prediction": self.prediction,
            "support": self.support,
            "n_samples": self.n_samples,
        }

    def __str__(self) -> str:
        conditions = join_conditions(self.conditions)
        facts = [f"{_percent(self.support)} of the rows, {self.n_samples:,}"]
        if any(share is not None for share in _each(self.confidence)):
            facts.append(f"confidence {_format_values(self.confidence, _percent)}")
            facts.append(f"lift {_format_values(self.lift, _number)}")
        elif self.deviation is not None:
            facts.append(f"standard deviation {_number(self.deviation)}")
        else:
            facts.append(f"impurity {_number(self.impurity)}")
        head = f"if {conditions} then" if conditions else "always"
        return f"{head} {_format_values(self.prediction, _label)} ({'; '.join(facts)})"


class Rules(Result, tuple[Rule, ...]):
    """The rules of a tree: a tuple that prints one rule per line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_rules": len(self),
            "largest_support": max((rule.support for rule in self), default=0.0),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per rule and its conditions as one text."""
        facts = ("prediction", "support", "n_samples", "confidence", "lift", "impurity", "leaf")
        rows = [
            {"conditions": join_conditions(rule.conditions)}
            | {fact: getattr(rule, fact) for fact in facts}
            for rule in self
        ]
        return new_frame(rows, columns=["conditions", *facts])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the support of the rules as bars, the 20 largest, each with its prediction.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        rules = sorted(self, key=lambda rule: -rule.support)[:20]
        texts = [join_conditions(rule.conditions) or "always" for rule in rules]
        bars = ax.barh(range(len(rules)), [rule.support for rule in rules], 0.66)
        predictions = [plot_escaped(_format_values(rule.prediction, _label)) for rule in rules]
        ax.bar_label(bars, predictions, padding=3)
        ax.set_yticks(range(len(rules)), [plot_escaped(clip(text, 60)) for text in texts])
        ax.margins(x=0.3)
        ax.invert_yaxis()
        ax.set_xlabel("share of the training rows; at the bar: the prediction")
        return ax


def extract_rules(
    estimator: Any,
    order: Literal["support", "leaf"],
    feature_names: Any = None,
    class_names: Any = None,
) -> Rules:
    """Extract the rules of an estimator's tree; see `DecisionTree.rules`."""
    if order not in ("support", "leaf"):
        raise ValueError(f'order={order!r} must be "support" or "leaf"')
    view = view_tree(estimator, feature_names, class_names, caller="rules")
    shown = {view.feature[node] for node, side in enumerate(view.missing) if side is not None}
    rules = [_rule(view, leaf, limits, shown) for leaf, limits in _leaves(view)]
    if order == "support":
        rules.sort(key=lambda rule: -rule.n_samples)  # stable: ties keep the order of the leaves
    return Rules(rules)


def find_node_conditions(estimator: Any, feature_names: Any = None) -> list[tuple[Condition, ...]]:
    """Return the conditions satisfied by the rows that reach each node of an estimator's tree."""
    view = view_tree(estimator, feature_names, None, caller="find_node_conditions")
    shown = {view.feature[node] for node, side in enumerate(view.missing) if side is not None}
    found: dict[int, tuple[Condition, ...]] = {
        node: tuple(
            _condition(view, feature, left, shows_missing=feature in shown)
            for feature, left in limits.items()
        )
        for node, limits in _nodes(view)
    }
    return [found[node] for node in range(len(found))]


@dataclass(frozen=True)
class _Limits:
    """Range of a column that satisfies the splits so far; categories by code."""

    low: float = -inf
    high: float = inf
    levels: frozenset[int] | None = None
    negated: bool = True
    missing: bool = True


def _leaves(view: TreeView) -> Iterator[tuple[int, dict[int, _Limits]]]:
    """Yield the leaves from left to right, each with the limits of the columns on its path."""
    return ((node, limits) for node, limits in _nodes(view) if view.is_leaf(node))


def _nodes(view: TreeView) -> Iterator[tuple[int, dict[int, _Limits]]]:
    """Yield all nodes with the limits of the columns on their paths, in preorder."""
    todo: list[tuple[int, dict[int, _Limits]]] = [(0, {})]
    while todo:
        node, limits = todo.pop()
        yield node, limits
        if view.is_leaf(node):
            continue
        feature = view.feature[node]
        before = limits.get(feature, _Limits())
        for child, yes in ((view.right[node], False), (view.left[node], True)):
            todo.append((child, {**limits, feature: _narrow_limits(view, node, before, yes=yes)}))


def _narrow_limits(view: TreeView, node: int, limits: _Limits, *, yes: bool) -> _Limits:
    with_missing = bool(view.tree.missing_go_to_left[node]) == yes
    missing = limits.missing and with_missing
    listed = view.tree.categories(node)
    if listed.size == 0:
        threshold = view.threshold[node]
        if yes:
            return replace(limits, high=min(limits.high, threshold), missing=missing)
        return replace(limits, low=max(limits.low, threshold), missing=missing)
    # The listed categories go to one side; all others go with the missing values.
    here, before = frozenset(listed.tolist()), limits.levels or frozenset()
    if limits.negated:
        levels = before | here if with_missing else here - before
        return replace(limits, levels=levels, negated=with_missing, missing=missing)
    levels = before - here if with_missing else before & here
    return replace(limits, levels=levels, missing=missing)


def _rule(view: TreeView, leaf: int, limits: dict[int, _Limits], shown: set[int]) -> Rule:
    outputs = [_output(view, k, leaf) for k in range(view.n_outputs)]
    predictions, confidences, lifts = zip(*outputs, strict=True)
    several = view.n_outputs > 1
    is_variance = not several and view.classes[0] is None and view.criterion in _VARIANCE
    impurity = view.impurity[leaf]
    return Rule(
        conditions=tuple(
            _condition(view, feature, left, shows_missing=feature in shown)
            for feature, left in limits.items()
        ),
        prediction=predictions if several else predictions[0],
        support=view.n[leaf] / view.n[0],
        n_samples=view.n[leaf],
        confidence=confidences if several else confidences[0],
        lift=lifts if several else lifts[0],
        impurity=impurity,
        deviation=sqrt(impurity) if is_variance else None,
        leaf=leaf,
    )


def _condition(view: TreeView, feature: int, left: _Limits, *, shows_missing: bool) -> Condition:
    levels = None
    if left.levels is not None:
        levels = view.level_labels(feature, sorted(left.levels))
    return Condition(
        feature=feature,
        name=view.name(feature, _GENERIC),
        low=left.low,
        high=left.high,
        levels=levels,
        negated=levels is not None and left.negated,
        missing=left.missing,
        shows_missing=shows_missing,
    )


def _output(view: TreeView, k: int, leaf: int) -> tuple[Any, float | None, float | None]:
    """Return a leaf's prediction of one target, the share of that class, and its lift."""
    value, labels = view.values[k][leaf], view.classes[k]
    if labels is None:
        return float(value[0]), None, None
    top = int(value.argmax())
    share = float(value[top])
    return labels[top], share, share / float(view.values[k][0, top])


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _format_values(value: Any, write: Callable[[Any], str]) -> str:
    return ", ".join("none" if one is None else write(one) for one in _each(value))


def _percent(share: float) -> str:
    return percent(share).replace("\N{NO-BREAK SPACE}", " ")


def _number(value: float) -> str:
    return f"{value:.4g}"


def _label(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
