"""What a combination says of rows that it did not learn from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.combine import MemberOutputs
from arboleda.study.combined.methods import Learn
from arboleda.study.combined.rules import MeanRule, Rule

__all__ = ["CrossFitted", "cross_fit", "n_learned"]

Floats = npt.NDArray[np.float64]
# Parts that all rows are cut into where they were scored as one.
BLOCKS = 5


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """The rule that all rows teach, and what those of the other rows say of each part."""

    rule: Rule
    said: tuple[Floats, ...]


def cross_fit(
    learn: Learn,
    parts: Sequence[MemberOutputs],
    whole: MemberOutputs,
    y: npt.NDArray[Any],
    seed: int,
    *,
    in_time: bool = False,
) -> CrossFitted:
    """Learn a combination from all rows, and from the rows outside each part.

    In time's order it is learned from the parts before; where these are none, or hold one class
    only, nothing can be learned, and the plain mean of the members is taken.

    Parameters
    ----------
    learn : callable
        Of the answers, the target and the seed.
    parts : sequence of MemberOutputs
        What the members said of the rows of each fold.
    whole : MemberOutputs
        What they said of all of these rows.
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
    said = []
    for part in parts:
        found = np.empty(part.outputs.shape[1:])
        for block in _blocks(part, len(whole.rows), seed):
            others = ~np.isin(whole.rows, part.rows[block])
            rule = learn(whole.outputs[:, others], target[others], seed)
            found[block] = rule(part.outputs[:, block])
        said.append(found)
    return CrossFitted(learn(whole.outputs, target, seed), tuple(said))


def n_learned(n_parts: int) -> int:
    """How many times a way to combine is learned: for each part, and from all rows."""
    return 1 + (n_parts if n_parts > 1 else BLOCKS)


def _forward(
    learn: Learn,
    parts: Sequence[MemberOutputs],
    whole: MemberOutputs,
    target: npt.NDArray[Any],
    seed: int,
) -> Iterator[Floats]:
    """What is said of each part by what those before it teach."""
    earlier = np.zeros(len(whole.rows), dtype=bool)
    for part in parts:
        known = target[earlier]
        rule: Rule = MeanRule((1.0 / len(whole.outputs),) * len(whole.outputs))
        if len(known) and (whole.classes is None or known.min() < known.max()):
            rule = learn(whole.outputs[:, earlier], known, seed)
        yield rule(part.outputs)
        earlier |= np.isin(whole.rows, part.rows)


def _blocks(part: MemberOutputs, n_rows: int, seed: int) -> list[npt.NDArray[np.int64]]:
    """Places in a part that are judged together: all, unless no other rows would be left."""
    places = np.arange(len(part.rows))
    if len(places) < n_rows:
        return [places]
    order = np.random.default_rng([seed, n_rows]).permutation(places)
    return [np.sort(block) for block in np.array_split(order, min(BLOCKS, n_rows))]
