"""Shapley values by their definition, over all sets of columns, from the arrays of trees."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Game = Callable[[frozenset[int]], Floats]


def shapley(game: Game, n_players: int) -> Floats:
    """Shapley (1953), equation 12: (n_players, n_outputs)."""
    game = cache(game)
    others = {i: [j for j in range(n_players) if j != i] for i in range(n_players)}
    values = []
    for i in range(n_players):
        total: Any = 0.0
        for size in range(n_players):
            weight = 1.0 / (n_players * math.comb(n_players - 1, size))
            for chosen in combinations(others[i], size):
                known = frozenset(chosen)
                total = total + weight * (game(known | {i}) - game(known))
        values.append(total)
    return np.array(values)


def goes_left(tree: Any, node: int, x: float) -> bool:
    """Whether a row goes left at a node of one of the engine's trees."""
    start = tree._native.category_start
    missing_left = bool(tree._native.missing_left[node])
    if start.size and start[node] < start[node + 1]:
        listed = tree._native.category[start[node] : start[node + 1]]
        return bool(x in listed) != missing_left
    return missing_left if math.isnan(x) else bool(x <= tree._native.threshold[node])


def conditional_mean(tree: Any, row: Floats, known: frozenset[int], node: int = 0) -> Floats:
    """Mean of leaves by weights of nodes where a column is not known."""
    native = tree._native
    right = int(native.right[node])
    if right < 0:
        return np.asarray(native.value[node])
    feature = int(native.feature[node])
    if feature in known:
        child = node + 1 if goes_left(tree, node, row[feature]) else right
        return conditional_mean(tree, row, known, child)
    weight = native.weighted_n_node_samples
    share = weight[node + 1] / (weight[node + 1] + weight[right])
    left = conditional_mean(tree, row, known, node + 1)
    return share * left + (1.0 - share) * conditional_mean(tree, row, known, right)
