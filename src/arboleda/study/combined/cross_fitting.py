"""Cross-fitting: a combination's predictions for rows that it was not fitted to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.combine import MemberOutputs
from arboleda.study.combined.methods import Learn
from arboleda.study.combined.rules import MeanRule, Rule

__all__ = ["CrossFitted", "cross_fit", "n_fits"]

Floats = npt.NDArray[np.float64]
# Number of blocks for rows that were scored as one fold.
BLOCKS = 5


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """The rule fitted to all rows, and the cross-fitted predictions of each part."""

    rule: Rule
    predictions: tuple[Floats, ...]


def cross_fit(
    learn: Learn,
    parts: Sequence[MemberOutputs],
    whole: MemberOutputs,
    y: npt.NDArray[Any],
    seed: int,
    *,
    in_time: bool = False,
) -> CrossFitted:
    """Fit a combination to all rows, and to the rows outside each part.

    In time order it is fitted to the parts before; if there are none, or they hold one class only,
    the plain mean of the members is used.

    Parameters
    ----------
    learn : callable
        Fits a rule to outputs, the target and a seed.
    parts : sequence of MemberOutputs
        The members' predictions for the rows of each fold.
    whole : MemberOutputs
        Their predictions for all of these rows.
    y : ndarray of shape (n_table_rows,)
        Numbers of classes, or values.
    seed : int
    in_time : bool, default=False
        Whether each part comes after those before it.
    """
    target = y[whole.rows]
    if in_time:
        return CrossFitted(
            learn(whole.outputs, target, seed), tuple(_forward(learn, parts, whole, target, seed))
        )
    predictions = []
    for part in parts:
        found = np.empty(part.outputs.shape[1:])
        for block in _blocks(part, len(whole.rows), seed):
            others = ~np.isin(whole.rows, part.rows[block])
            rule = learn(whole.outputs[:, others], target[others], seed)
            found[block] = rule(part.outputs[:, block])
        predictions.append(found)
    return CrossFitted(learn(whole.outputs, target, seed), tuple(predictions))


def n_fits(n_parts: int) -> int:
    """Return the number of fits of a method: one for each part, and one to all rows."""
    return 1 + (n_parts if n_parts > 1 else BLOCKS)


def _forward(
    learn: Learn,
    parts: Sequence[MemberOutputs],
    whole: MemberOutputs,
    target: npt.NDArray[Any],
    seed: int,
) -> Iterator[Floats]:
    """Yield the predictions for each part by a rule fitted to the parts before it."""
    earlier = np.zeros(len(whole.rows), dtype=bool)
    for part in parts:
        known = target[earlier]
        rule: Rule = MeanRule((1.0 / len(whole.outputs),) * len(whole.outputs))
        if len(known) and (whole.classes is None or known.min() < known.max()):
            rule = learn(whole.outputs[:, earlier], known, seed)
        yield rule(part.outputs)
        earlier |= np.isin(whole.rows, part.rows)


def _blocks(part: MemberOutputs, n_rows: int, seed: int) -> list[npt.NDArray[np.int64]]:
    """Split the rows of a part into blocks: one, unless no other rows would be left."""
    places = np.arange(len(part.rows))
    if len(places) < n_rows:
        return [places]
    order = np.random.default_rng([seed, n_rows]).permutation(places)
    return [np.sort(block) for block in np.array_split(order, min(BLOCKS, n_rows))]
