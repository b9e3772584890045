"""Members that are clones of any estimator, each fitted on a sample drawn with its own seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._base.members import checked_table
from arboleda.bagging._members import BaggingData, Member, fit_members
from arboleda.bagging._sampling import Draw, RowsToDraw, SamplingPlan, draw, find_learned_rows
from arboleda.bagging._votes import (
    Floats,
    Indices,
    MemberOutput,
    OutOfBag,
    PredictOptions,
    aggregate_out_of_bag,
    average_decisions,
    average_outputs,
    iter_decision_stages,
    iter_output_stages,
    iter_outputs_on_rows,
)


class SeedBatch(NamedTuple):
    """Plan, rows and seeds of the members of one call of `fit`, which reproduce their samples."""

    plan: SamplingPlan
    rows: RowsToDraw
    seeds: npt.NDArray[Any]

    def draws(self) -> list[Draw]:
        """Draw the samples of all members again."""
        return [draw(self.plan, self.rows, int(seed)) for seed in self.seeds]


class BaggedEstimators:
    """Fitted members, the batches that reproduce their samples, and weights that sum to 1.

    ``weights`` is None if all members have the same weight.
    """

    weights: Floats | None = None

    def __init__(
        self, members: Sequence[Member], batches: Sequence[SeedBatch], weights: Floats | None = None
    ) -> None:
        self._members = list(members)
        self._batches = list(batches)
        self.weights = weights

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self._members)

    def extended(
        self, template: Any, training: BaggingData, seeds: npt.NDArray[Any], options: PredictOptions
    ) -> BaggedEstimators:
        """Return these members and a new one for each seed, all without weights."""
        new = fit_members(template, training, seeds, options.n_jobs, options.verbose)
        batch = SeedBatch(training.plan, training.rows, seeds)
        return BaggedEstimators([*self._members, *new], [*self._batches, batch])

    def with_weights(self, weights: Floats | None) -> BaggedEstimators:
        """Return the same members with these weights."""
        return BaggedEstimators(self._members, self._batches, weights)

    def checked(self, ensemble: Any, X: Any, *, as_array: bool) -> Any:
        """Validate a table for the members."""
        return checked_table(ensemble, X, reset=False, as_array=as_array)

    @property
    def estimators(self) -> list[Any]:
        """Fitted members."""
        return [member.estimator for member in self._members]

    @property
    def columns(self) -> list[Indices]:
        """Column indices of each member."""
        return [member.columns for member in self._members]

    @property
    def samples(self) -> list[Indices]:
        """Row indices of each member, with repeats."""
        samples = []
        for batch in self._batches:
            rows = batch.rows
            every = np.arange(rows.n_rows) if rows.able is None else rows.able
            samples += [every if drawn.rows is None else drawn.rows for drawn in batch.draws()]
        return samples

    def average_outputs(self, X: Any, options: PredictOptions) -> Floats:
        """Average the class probabilities or values of the members."""
        return average_outputs(self._members, X, options, self.weights)

    def average_decisions(self, X: Any, options: PredictOptions) -> Floats:
        """Average the decision functions of the members."""
        return average_decisions(self._members, X, options, self.weights)

    def iter_output_stages(self, X: Any, options: PredictOptions) -> Iterator[Floats]:
        """Yield `average_outputs` of the first member, the first two, ..., all members."""
        return iter_output_stages(self._members, X, options, self.weights)

    def iter_decision_stages(self, X: Any, options: PredictOptions) -> Iterator[Floats]:
        """Yield `average_decisions` of the first member, the first two, ..., all members."""
        return iter_decision_stages(self._members, X, options, self.weights)

    def have_drawn_from(self, n_rows: int) -> bool:
        """Return whether all members were trained on tables with ``n_rows`` rows."""
        return all(batch.rows.n_rows == n_rows for batch in self._batches)

    def aggregate_out_of_bag(
        self, X: Any, target: npt.NDArray[Any], options: PredictOptions
    ) -> OutOfBag:
        """Aggregate the predictions of every member for the rows that it left out."""
        rows = self._batches[-1].rows
        outputs = self.iter_outputs_on_rows(X, self.iter_left_out_rows(), options)
        n_members, n_classes = len(self), options.n_classes
        return aggregate_out_of_bag(
            outputs, n_members, target, rows.is_able, n_classes, self.weights
        )

    def iter_outputs_on_rows(
        self, X: Any, rows_of_members: Iterable[Indices], options: PredictOptions
    ) -> Iterator[MemberOutput]:
        """Yield for each member its rows of ``rows_of_members`` and its outputs for these."""
        return iter_outputs_on_rows(self._members, rows_of_members, X, options)

    def find_learned_rows(self, n_rows: int) -> npt.NDArray[np.bool_]:
        """Find the rows of a table with ``n_rows`` rows that members may have been trained on.

        Raises
        ------
        ValueError
            If members were trained on tables of other sizes.
        """
        return find_learned_rows([batch.rows for batch in self._batches], n_rows)

    def iter_left_out_rows(self) -> Iterator[Indices]:
        """Yield for each member the rows that it could have drawn but did not."""
        for batch in self._batches:
            for drawn in batch.draws():
                yield np.flatnonzero((drawn.counts(batch.rows) == 0) & batch.rows.is_able)
