"""Rows beside others: usual values, nearest training rows, instructive test rows."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from arboleda.facts.explained_row import ColumnValue, Neighbour, NeighboursFacts, UsualValues
from arboleda.facts.explanation import BeyondTraining, CorrelatedColumns, InstructiveRow
from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.study.results.explained_model import ExplainedModel, Floats, RowSubset

__all__ = [
    "ProximityForest",
    "count_rows_beyond_training",
    "describe_values",
    "find_correlated_columns",
    "find_instructive_rows",
    "make_proximity_forest",
]

Remark = Literal["missing", "below_all", "above_all", "low", "high", "unseen", "rare"]
Reason = Literal["wrong", "surely_wrong", "unsure", "right", "surely_right", "off", "middle"]

# A value is unusual if a smaller share of the training rows has it.
UNUSUAL = 0.05
COMMON = 3  # number of usual categories listed


def describe_values(subject: ExplainedModel, row: npt.NDArray[np.float64]) -> list[ColumnValue]:
    """Describe the value of each column and whether it is unusual in the training rows.

    Parameters
    ----------
    subject : ExplainedModel
    row : array of shape (n_columns,)
        A row of the matrix.
    """
    seen = subject.train.x
    return [
        _describe_number(subject, j, row[j], seen[:, j])
        if subject.kind(j) == "numeric"
        else _describe_category(subject, j, row[j], seen[:, j])
        for j in range(len(subject.names))
    ]


def _describe_number(
    subject: ExplainedModel, j: int, value: float, column: npt.NDArray[np.float64]
) -> ColumnValue:
    present = column[~np.isnan(column)]
    usual = share = below = above = None
    remark: Remark | None = None
    if present.size:
        low, median, high = np.quantile(present, [0.1, 0.5, 0.9])
        usual = UsualValues(low=float(low), median=float(median), high=float(high))
    if np.isnan(value):
        share = 1 - present.size / len(column)
        remark = "missing" if share < UNUSUAL else None
    elif present.size:
        below, above = float(np.mean(present < value)), float(np.mean(present > value))
        remark = _get_remark(value, present, below, above)
    return ColumnValue(
        name=subject.names[j],
        kind="numeric",
        value=subject.text(j, value),
        usual=usual,
        common=None,
        share=share,
        below=below,
        above=above,
        remark=remark,
    )


def _get_remark(
    value: float, present: npt.NDArray[np.float64], below: float, above: float
) -> Remark | None:
    if value < present.min():
        return "below_all"
    if value > present.max():
        return "above_all"
    if 1 - above <= UNUSUAL:
        return "low"
    return "high" if 1 - below <= UNUSUAL else None


def _describe_category(
    subject: ExplainedModel, j: int, value: float, column: npt.NDArray[np.float64]
) -> ColumnValue:
    # Missing Boolean values become a code, to be counted like the others.
    codes, own = np.nan_to_num(column, nan=-1.0), float(np.nan_to_num(value, nan=-1.0))
    distinct, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:COMMON]
    share = float(np.mean(codes == own))
    return ColumnValue(
        name=subject.names[j],
        kind=subject.kind(j),
        value=subject.text(j, value),
        usual=None,
        common=[
            (subject.text(j, _decode(subject, j, distinct[i])), float(counts[i] / len(codes)))
            for i in order
        ],
        share=share,
        below=None,
        above=None,
        remark="unseen" if share == 0 else "rare" if share < UNUSUAL else None,
    )


def _decode(subject: ExplainedModel, j: int, code: float) -> float:
    return np.nan if code < 0 and subject.kind(j) == "boolean" else code


N_NEIGHBOURS = 10
N_TEST_ROWS = 5
TREES = 100
MOST_PROXIMITY_ROWS = 20_000
LEAF = 5
_PROXIMITY_STREAM = 11


@dataclass(frozen=True)
class ProximityForest:
    """A forest whose leaves define the proximity of rows.

    The forest is the model itself if it is a forest of this library (``own``), otherwise a forest
    fitted to the predictions of the model; ``agreement`` is its fidelity on the test rows.
    """

    subject: ExplainedModel
    forest: Any
    own: bool
    agreement: float | None
    part: RowSubset

    def facts(self, row: Floats, number: int | None) -> NeighboursFacts:
        """Find the training rows that share a leaf with the row in most trees.

        Parameters
        ----------
        row : array of shape (n_columns,)
            A row of the matrix.
        number : int or None
            Number of the row if it belongs to the study; it is not its own neighbour.
        """
        return NeighboursFacts(
            kind="own" if self.own else "imitating",
            n_trees=len(self.forest.estimators_),
            agreement=self.agreement,
            n_rows=len(self.part.x),
            n_training_rows=len(self.subject.train.x),
            rows=[
                self._describe_row(at, near)
                for at, near in self._find_nearest(row, number, self.part, N_NEIGHBOURS)
            ],
        )

    def test_rows(self, row: Floats) -> list[int]:
        """Return the numbers, from 1, of the test rows nearest to the row."""
        part = self.subject.draw(self.subject.test, MOST_PROXIMITY_ROWS, _PROXIMITY_STREAM)
        nearest = self._find_nearest(row, None, part, N_TEST_ROWS)
        return [int(part.numbers[at]) + 1 for at, _ in nearest]

    def _find_nearest(
        self, row: Floats, number: int | None, part: RowSubset, most: int
    ) -> list[tuple[int, float]]:
        near, others = row[None, :], part.x
        if self.own:
            near, others = (self.subject.pipeline[:-1].transform(x) for x in (near, others))
        proximity = self.forest.proximity(near, others).toarray().ravel()
        proximity[part.numbers == number] = 0.0
        order = np.argsort(-proximity, kind="stable")[:most]
        return [(int(i), float(proximity[i])) for i in order if proximity[i] > 0]

    def _describe_row(self, at: int, proximity: float) -> Neighbour:
        subject, part = self.subject, self.part
        return Neighbour(
            row=int(part.numbers[at]) + 1,
            proximity=proximity,
            target=subject.prediction_text(float(part.y[at])),
            values=[subject.text(j, value) for j, value in enumerate(part.x[at])],
        )


def make_proximity_forest(subject: ExplainedModel) -> ProximityForest:
    """Return the forest of the model, or fit a forest to its predictions."""
    part = subject.draw(subject.train, MOST_PROXIMITY_ROWS, _PROXIMITY_STREAM)
    if hasattr(subject.pipeline[-1], "proximity"):
        return ProximityForest(subject, subject.pipeline[-1], True, None, part)
    kind = RandomForestClassifier if subject.classes else RandomForestRegressor
    forest = kind(
        n_estimators=TREES,
        min_samples_leaf=LEAF,
        categorical_features=list(subject.levels) or None,
        random_state=subject.seed,
    )
    forest.fit(part.x, subject.predict(part.x))
    return ProximityForest(subject, forest, False, _compute_agreement(subject, forest), part)


def _compute_agreement(subject: ExplainedModel, forest: Any) -> float:
    """Return the share of equal classes on test rows, or the R2 of the forest to the model."""
    imitated, model = (m.predict(subject.test.x) for m in (forest, subject.pipeline))
    if subject.classes:
        return float(np.mean(imitated == model))
    spread = float(np.sum((model - model.mean()) ** 2))
    return 1.0 - float(np.sum((imitated - model) ** 2)) / spread if spread else 1.0


TOGETHER = 0.9
MOST_COMPARED = 200
MOST_CORRELATED_ROWS = 5_000
N_WRONG = 3
_CORRELATED_STREAM = 17


def find_instructive_rows(subject: ExplainedModel) -> list[InstructiveRow]:
    """Select test rows: the most confident errors, an uncertain row and a confident one."""
    test = subject.test
    if not len(test.x):
        return []
    predictions = subject.predict(test.x)
    chosen: list[tuple[int, Reason]]
    if not subject.classes:
        off = np.abs(predictions - test.y)
        order = np.argsort(-off, kind="stable")
        chosen = [(int(i), "off") for i in order[:N_WRONG]]
        chosen.append((int(np.argsort(off, kind="stable")[len(off) // 2]), "middle"))
        return [_describe_row(subject, i, why, predictions, None) for i, why in chosen]
    wrong, right = (
        np.flatnonzero((predictions == test.y) == is_right) for is_right in (False, True)
    )
    if not subject.predicts_probabilities:
        chosen = [(int(i), "wrong") for i in wrong[:N_WRONG]] + [
            (int(i), "right") for i in right[:1]
        ]
        return [_describe_row(subject, i, why, predictions, None) for i, why in chosen]
    confidence = subject.outputs(test.x).max(axis=1)
    order = wrong[np.argsort(-confidence[wrong], kind="stable")]
    chosen = [(int(i), "surely_wrong") for i in order[:N_WRONG]]
    least = int(np.argmin(confidence))
    if least not in order[:N_WRONG]:
        chosen.append((least, "unsure"))
    if len(right):
        chosen.append((int(right[np.argmax(confidence[right])]), "surely_right"))
    return [_describe_row(subject, i, why, predictions, confidence) for i, why in chosen]


def _describe_row(
    subject: ExplainedModel, at: int, why: Reason, predictions: Floats, confidence: Floats | None
) -> InstructiveRow:
    return InstructiveRow(
        row=int(subject.test.numbers[at]) + 1,
        why=why,
        truth=subject.prediction_text(float(subject.test.y[at])),
        prediction=subject.prediction_text(float(predictions[at])),
        probability=None if confidence is None else float(confidence[at]),
    )


def find_correlated_columns(subject: ExplainedModel) -> list[CorrelatedColumns]:
    """Find pairs of numeric columns with high rank correlation, the strongest first."""
    part = subject.draw(subject.train, MOST_CORRELATED_ROWS, _CORRELATED_STREAM)
    columns = [j for j in range(len(subject.names)) if subject.kind(j) == "numeric"]
    ranks, used = [], []
    for j in columns[:MOST_COMPARED]:
        values = part.x[:, j]
        values = (
            np.where(np.isnan(values), np.nanmedian(values), values)
            if (np.isfinite(values).any())
            else np.zeros(len(values))
        )
        rank = rankdata(values) - (len(values) + 1) / 2
        length = float(np.sqrt(rank @ rank))
        if length:
            ranks.append(rank / length)
            used.append(j)
    if len(used) < 2:
        return []
    together = np.array(ranks) @ np.array(ranks).T
    one, other = np.nonzero(np.triu(np.abs(together) >= TOGETHER, 1))
    strength = together[one, other]
    return [
        CorrelatedColumns(
            columns=[subject.names[used[one[i]]], subject.names[used[other[i]]]],
            correlation=float(np.clip(strength[i], -1, 1)),
        )
        for i in np.argsort(-np.abs(strength), kind="stable")
    ]


def count_rows_beyond_training(subject: ExplainedModel) -> BeyondTraining:
    """Count test rows outside the range of the training rows, with the most frequent column."""
    columns = [j for j in range(len(subject.names)) if subject.kind(j) == "numeric"]
    seen, tested = subject.train.x[:, columns], subject.test.x[:, columns]
    known = np.isfinite(seen).any(axis=0)
    low = np.where(np.isnan(seen), np.inf, seen).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(seen), -np.inf, seen).max(axis=0, initial=-np.inf)
    out = ((tested < low) | (tested > high)) & known
    n_rows = int(out.any(axis=1).sum())
    return BeyondTraining(
        n_rows=n_rows,
        n_test=len(tested),
        column=subject.names[columns[int(out.sum(axis=0).argmax())]] if n_rows else None,
    )
