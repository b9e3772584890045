"""Search spaces of the models' parameters, and estimates of the seconds of a fit.

A space has the same parameters as the model's grid, so that a search can begin with the first
candidate of the grid, the default.

The factors were measured on fits with 4,000 to 30,000 rows and 14 to 60 columns on one core of an
AMD EPYC (Zen 3). Rough values suffice: a study with a time budget scales them by its own timings.
"""

import math
from collections.abc import Callable, Mapping

from arboleda.catalogue.model import (
    Choice,
    Cost,
    IntegerRange,
    Params,
    Range,
    RealRange,
    Setting,
    Size,
)
from arboleda.tables.target import n_scores

__all__ = [
    "make_boosting_cost",
    "make_boosting_space",
    "make_cart_space",
    "make_elastic_net_space",
    "make_forest_space",
    "make_friedman_space",
    "make_inverse_penalty_space",
    "make_kernel_ridge_space",
    "make_lasso_space",
    "make_naive_bayes_space",
    "make_neighbors_space",
    "make_network_cost",
    "make_network_space",
    "make_pairs_cost",
    "make_penalty_space",
    "make_rows_cost",
    "make_subspaces_space",
    "make_trees_cost",
]

Space = Mapping[str, Range]


def make_cart_space(setting: Setting) -> Space:
    """Make the space of depth, best-first leaves and rows per leaf."""
    return {
        "max_depth": Choice((None, 3, 5, 8, 12, 16)),
        "min_samples_leaf": IntegerRange(1, 50, log=True),
        "max_leaf_nodes": Choice((None, 8, 16, 32, 64, 128, 256)),
    }


def make_forest_space(setting: Setting) -> Space:
    """Make the space of columns tried per node and rows per leaf."""
    return {"max_features": RealRange(0.05, 1.0), "min_samples_leaf": IntegerRange(1, 20, log=True)}


def make_subspaces_space(setting: Setting) -> Space:
    """Make the space of columns per member."""
    return {"max_features": RealRange(0.1, 1.0)}


def make_boosting_space(setting: Setting) -> Space:
    """Make the space of learning rate, rounds and leaves of histogram gradient boosting."""
    return {
        "learning_rate": RealRange(0.02, 0.3, log=True),
        "max_iter": IntegerRange(50, 600, log=True),
        "max_leaf_nodes": IntegerRange(4, 64, log=True),
    }


def make_friedman_space(setting: Setting) -> Space:
    """Make the space of learning rate, rounds, depth and subsample of Friedman's boosting."""
    return {
        "learning_rate": RealRange(0.02, 0.3, log=True),
        "n_estimators": IntegerRange(50, 400, log=True),
        "max_depth": IntegerRange(1, 6),
        "subsample": RealRange(0.4, 1.0),
    }


def make_inverse_penalty_space(setting: Setting) -> Space:
    """Make the space of the inverse of a penalty."""
    return {"C": RealRange(1e-3, 1e3, log=True)}


def make_penalty_space(setting: Setting) -> Space:
    """Make the space of an L2 penalty."""
    return {"alpha": RealRange(1e-3, 1e4, log=True)}


def make_lasso_space(setting: Setting) -> Space:
    """Make the space of an L1 penalty, for a standardized target."""
    return {"alpha": RealRange(1e-4, 0.5, log=True)}


def make_elastic_net_space(setting: Setting) -> Space:
    """Make the space of an elastic-net penalty and its L1 ratio, for a standardized target."""
    return {"alpha": RealRange(1e-4, 0.5, log=True), "l1_ratio": RealRange(0.05, 1.0)}


def make_kernel_ridge_space(setting: Setting) -> Space:
    """Make the space of the penalty of kernel ridge regression."""
    return {"alpha": RealRange(1e-3, 1e2, log=True)}


def make_naive_bayes_space(setting: Setting) -> Space:
    """Make the space of variance smoothing, as a fraction of the largest variance."""
    return {"var_smoothing": RealRange(1e-9, 1.0, log=True)}


def make_neighbors_space(setting: Setting) -> Space:
    """Make the space of the number of neighbors and their weights."""
    max_neighbors = min(100, setting.max_neighbors)
    return {
        "n_neighbors": IntegerRange(1, max_neighbors, log=True),
        "weights": Choice(("uniform", "distance")),
    }


def make_network_space(setting: Setting) -> Space:
    """Make the space of hidden units and L2 penalty."""
    return {"hidden_units": IntegerRange(8, 256, log=True), "alpha": RealRange(1e-6, 1.0, log=True)}


# At each node, all other work costs as much as trying this many columns.
NODE_COLUMNS = 4
# Finding the split of a leaf among all bins costs as much as this many rows.
LEAF_OVERHEAD_ROWS = 300
# The assumed depth of boosted trees without a limit, and the maximum number of leaves to count.
USUAL_DEPTH, MAX_LEAVES = 5, 256


def make_trees_cost(
    n_trees: int, share: Callable[[Size, Params], float] = lambda size, params: 1.0
) -> Cost:
    """Make the cost of full-grown trees that try a fraction of the columns at each node.

    It is proportional to n log(n) for n rows. A candidate's "n_estimators" overrides ``n_trees``.
    """

    def estimate(size: Size, params: Params) -> float:
        trees: float = params.get("n_estimators", n_trees)
        columns = NODE_COLUMNS + max(1.0, size.columns * share(size, params))
        return 4.5e-9 * trees * size.rows * columns * math.log2(size.rows + 2)

    return estimate


def make_boosting_cost(
    rounds: Callable[[Params], float], factor: float = 2e-9, leaf_rows: int = LEAF_OVERHEAD_ROWS
) -> Cost:
    """Make the cost of rounds of small trees on all rows; one tree per class if more than two.

    A leaf costs as much as ``leaf_rows`` rows.
    """

    def estimate(size: Size, params: Params) -> float:
        trees = rounds(params) * n_scores(size.classes)
        leaves = params.get("max_leaf_nodes") or 2 ** (params.get("max_depth") or USUAL_DEPTH)
        rows = size.rows + leaf_rows * min(leaves, MAX_LEAVES)
        return factor * trees * rows * size.columns

    return estimate


def make_rows_cost(factor: float, *, each_class: bool = False) -> Cost:
    """Make a cost proportional to the number of cells and, optionally, to that of classes."""

    def estimate(size: Size, params: Params) -> float:
        return factor * size.rows * size.columns * (max(1, size.classes) if each_class else 1)

    return estimate


def make_network_cost(row: float, cell: float) -> Cost:
    """Make a cost proportional to the rows: ``row`` for each and ``cell`` for each of its columns.

    The small matrices of a mini-batch cost little more than the calls for it.
    """

    def estimate(size: Size, params: Params) -> float:
        return size.rows * (row + cell * size.columns)

    return estimate


def make_pairs_cost(factor: float, at_most: int | None = None) -> Cost:
    """Make the cost of comparing all rows, also the predicted ones, with all or ``at_most`` rows.

    With five folds, a fit predicts a fourth as many rows as it is fitted on; the formula then gives
    both halves of the work equal weight.
    """

    def estimate(size: Size, params: Params) -> float:
        others = size.rows if at_most is None else min(size.rows, at_most)
        return factor * (size.rows + 4 * size.n_scored) / 2 * others * size.columns

    return estimate
