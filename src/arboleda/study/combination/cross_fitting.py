"""Cross-fitting: a combination's predictions for each fold, by a rule fitted to other folds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.parallel import run_in_parallel
from arboleda.combine import MemberOutputs
from arboleda.study.combination.rules import CombinationRule, MeanRule

__all__ = ["CrossFitted", "FitRule", "count_fits", "cross_fit"]

Floats = npt.NDArray[np.float64]
# A function of outputs (members x rows[ x classes]), numbers of classes or values, and a seed. If
# its method has a base, it also takes the base's rule for the same rows as ``base``.
FitRule = Callable[..., CombinationRule]
Mask = npt.NDArray[np.bool_]
# Number of blocks for rows that were scored as one fold.
BLOCKS = 5


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """The fitted rules, the first of them to all rows, and the predictions of each part."""

    rules: tuple[CombinationRule, ...]
    predictions: tuple[Floats, ...]

    @property
    def rule(self) -> CombinationRule:
        """The rule fitted to all rows."""
        return self.rules[0]


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows of a part that one rule predicts, and which of all rows that rule is fitted to."""

    part: int
    rows: npt.NDArray[np.int64]
    training: Mask


def cross_fit(
    fit_rule: FitRule,
    parts: Sequence[MemberOutputs],
    whole: MemberOutputs,
    y: npt.NDArray[Any],
    seed: int,
    *,
    in_time: bool = False,
    bases: Sequence[CombinationRule] | None = None,
    n_threads: int = 1,
) -> CrossFitted:
    """Fit a combination to all rows, and to the rows outside each part.

    In time order it is fitted to the parts before; if there are none, or they hold one class only,
    the plain mean of the members is used. The result does not depend on the number of threads.

    Parameters
    ----------
    fit_rule : callable
        Fits a rule to outputs, the target and a seed; see `FitRule`.
    parts : sequence of MemberOutputs
        The members' predictions for the rows of each fold.
    whole : MemberOutputs
        Their predictions for all of these rows.
    y : ndarray of shape (n_table_rows,)
        Numbers of classes, or values.
    seed : int
    in_time : bool, default=False
        Whether each part comes after those before it.
    bases : sequence of CombinationRule, optional
        The rules of another method, cross-fitted to the same parts: each is passed to the fit to
        the same rows.
    n_threads : int, default=1
        Number of fits at a time.
    """
    target = y[whole.rows]
    blocks = list((_split_in_time if in_time else _split_by_folds)(parts, whole, seed))
    masks = [np.ones(len(target), dtype=bool), *(block.training for block in blocks)]

    def fit(place: int) -> CombinationRule:
        mask = masks[place]
        known = target[mask]
        if in_time and not (len(known) and (whole.classes is None or known.min() < known.max())):
            return MeanRule((1.0 / len(whole.outputs),) * len(whole.outputs))
        base = {} if bases is None else {"base": bases[place]}
        return fit_rule(whole.outputs[:, mask], known, seed, **base)

    def fit_and_predict(place: int, _: int) -> tuple[CombinationRule, Floats]:
        rule = fit(place)
        if place == 0:
            return rule, np.empty(0)
        block = blocks[place - 1]
        return rule, rule(parts[block.part].outputs[:, block.rows])

    tasks = [partial(fit_and_predict, place) for place in range(len(masks))]
    found = run_in_parallel(tasks, n_threads)
    predictions = [np.empty(part.outputs.shape[1:]) for part in parts]
    for block, (_, predicted) in zip(blocks, found[1:], strict=True):
        predictions[block.part][block.rows] = predicted
    return CrossFitted(tuple(rule for rule, _ in found), tuple(predictions))


def count_fits(n_parts: int) -> int:
    """Return the number of fits of a method: one for each part, and one to all rows."""
    return 1 + (n_parts if n_parts > 1 else BLOCKS)


def _split_by_folds(
    parts: Sequence[MemberOutputs], whole: MemberOutputs, seed: int
) -> Iterator[_Block]:
    """Yield blocks that are predicted from all other rows."""
    for k, part in enumerate(parts):
        for rows in _split_part(part, len(whole.rows), seed):
            yield _Block(k, rows, ~np.isin(whole.rows, part.rows[rows]))


def _split_in_time(
    parts: Sequence[MemberOutputs], whole: MemberOutputs, seed: int
) -> Iterator[_Block]:
    """Yield the parts, each of which is predicted from those before it."""
    earlier = np.zeros(len(whole.rows), dtype=bool)
    for k, part in enumerate(parts):
        yield _Block(k, np.arange(len(part.rows)), earlier)
        earlier = earlier | np.isin(whole.rows, part.rows)


def _split_part(part: MemberOutputs, n_rows: int, seed: int) -> list[npt.NDArray[np.int64]]:
    """Split the rows of a part into blocks: one, unless no other rows would be left."""
    places = np.arange(len(part.rows))
    if len(places) < n_rows:
        return [places]
    order = np.random.default_rng([seed, n_rows]).permutation(places)
    return [np.sort(block) for block in np.array_split(order, min(BLOCKS, n_rows))]
