"""Search spaces of the models' parameters, and estimates of the seconds of a fit.

A space has the parameters of the model's grid, so that the grid's first candidate, the usual one,
can be the first that is tried.

The factors were read off fits of 4,000 to 16,000 rows of 20 to 60 numeric columns on one core of a
server of 2023. They are rough, and need be no better: a study scales them by what it has timed.
"""

import math
from collections.abc import Callable, Mapping

from arboleda.study.catalogue.model import Choice, Cost, Params, Range, Real, Setting, Size, Whole
from arboleda.study.data.target import n_scores

__all__ = [
    "boosting",
    "boosting_cost",
    "cart",
    "each_row_cost",
    "elastic_net",
    "forest",
    "friedman",
    "inverse_penalty",
    "kernel_ridge",
    "lasso",
    "naive_bayes",
    "neighbours",
    "network",
    "pairs_cost",
    "penalty",
    "subspaces",
    "trees_cost",
]

Space = Mapping[str, Range]


def cart(setting: Setting) -> Space:
    """Depth, or leaves grown best first, and how many rows a leaf holds at least."""
    return {
        "max_depth": Choice((None, 3, 5, 8, 12, 16)),
        "min_samples_leaf": Whole(1, 50, log=True),
        "max_leaf_nodes": Choice((None, 8, 16, 32, 64, 128, 256)),
    }


def forest(setting: Setting) -> Space:
    """Columns tried at a node, and rows of a leaf."""
    return {"max_features": Real(0.05, 1.0), "min_samples_leaf": Whole(1, 20, log=True)}


def subspaces(setting: Setting) -> Space:
    """Columns that a member sees."""
    return {"max_features": Real(0.1, 1.0)}


def boosting(setting: Setting) -> Space:
    """Steps, rounds and leaves of gradient boosting on histograms."""
    return {
        "learning_rate": Real(0.02, 0.3, log=True),
        "max_iter": Whole(50, 600, log=True),
        "max_leaf_nodes": Whole(4, 64, log=True),
    }


def friedman(setting: Setting) -> Space:
    """Steps, rounds, depth and the share of rows of Friedman's gradient boosting."""
    return {
        "learning_rate": Real(0.02, 0.3, log=True),
        "n_estimators": Whole(50, 400, log=True),
        "max_depth": Whole(1, 6),
        "subsample": Real(0.4, 1.0),
    }


def inverse_penalty(setting: Setting) -> Space:
    """The larger, the less is penalised."""
    return {"C": Real(1e-3, 1e3, log=True)}


def penalty(setting: Setting) -> Space:
    """Of squared weights."""
    return {"alpha": Real(1e-3, 1e4, log=True)}


def lasso(setting: Setting) -> Space:
    """Of absolute weights, for a target of unit size."""
    return {"alpha": Real(1e-4, 0.5, log=True)}


def elastic_net(setting: Setting) -> Space:
    """Of both, and the share of the absolute ones."""
    return {"alpha": Real(1e-4, 0.5, log=True), "l1_ratio": Real(0.05, 1.0)}


def kernel_ridge(setting: Setting) -> Space:
    """Of squared weights among pairs of rows."""
    return {"alpha": Real(1e-3, 1e2, log=True)}


def naive_bayes(setting: Setting) -> Space:
    """What is added to variances, as a share of the largest."""
    return {"var_smoothing": Real(1e-9, 1.0, log=True)}


def neighbours(setting: Setting) -> Space:
    """How many, and whether near ones count more."""
    most = min(100, setting.most_neighbours)
    return {
        "n_neighbors": Whole(1, most, log=True),
        "weights": Choice(("uniform", "distance")),
    }


def network(setting: Setting) -> Space:
    """Units of the hidden layer, and the penalty of weights."""
    return {"hidden_units": Whole(8, 256, log=True), "alpha": Real(1e-6, 1.0, log=True)}


# The work of so many rows is what a leaf takes besides, to look for its split among all bins.
LEAF_ROWS = 300
# The depth of boosted trees where nothing is said, and the leaves that are counted at most.
USUAL_DEPTH, MOST_LEAVES = 5, 256


def trees_cost(
    n_trees: int, share: Callable[[Size, Params], float] = lambda size, params: 1.0
) -> Cost:
    """Full-grown trees that look at a share of the columns in each node: rows by their logarithm.

    A candidate's own "n_estimators" goes before ``n_trees``.
    """

    def cost(size: Size, params: Params) -> float:
        trees: float = params.get("n_estimators", n_trees)
        columns = max(1.0, size.columns * share(size, params))
        return 5e-9 * trees * size.rows * columns * math.log2(size.rows + 2)

    return cost


def boosting_cost(
    rounds: Callable[[Params], float], factor: float = 1.5e-9, leaf_rows: int = LEAF_ROWS
) -> Cost:
    """Rounds of small trees on all rows, one tree a class where there are more than two.

    ``leaf_rows`` is as how many rows a leaf counts.
    """

    def cost(size: Size, params: Params) -> float:
        trees = rounds(params) * n_scores(size.classes)
        leaves = params.get("max_leaf_nodes") or 2 ** (params.get("max_depth") or USUAL_DEPTH)
        rows = size.rows + leaf_rows * min(leaves, MOST_LEAVES)
        return factor * trees * rows * size.columns

    return cost


def each_row_cost(factor: float, *, each_class: bool = False) -> Cost:
    """As many steps for each cell of the table, whatever the rows; perhaps for each class."""

    def cost(size: Size, params: Params) -> float:
        return factor * size.rows * size.columns * (max(1, size.classes) if each_class else 1)

    return cost


def pairs_cost(factor: float, at_most: int | None = None) -> Cost:
    """Every row with every other, or with so many of them; the rows asked about with them, too.

    With five folds a fourth as many rows are asked about as are learned from: then either is half
    of the work.
    """

    def cost(size: Size, params: Params) -> float:
        others = size.rows if at_most is None else min(size.rows, at_most)
        return factor * (size.rows + 4 * size.n_scored) / 2 * others * size.columns

    return cost
