"""About how many seconds of one core a fit takes: shapes of the methods, factors as measured.

The factors were read off fits of 4,000 to 16,000 rows of 20 to 60 numeric columns on one core of a
server of 2023. They are rough, and need be no better: a study scales them by what it has timed.
"""

import math
from collections.abc import Callable

from arboleda.study.catalogue.model import Cost, Params, Size
from arboleda.study.data.target import n_scores

__all__ = ["boosting_cost", "each_row_cost", "pairs_cost", "trees_cost"]

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
