"""Which rows are near to a row, as a forest sees nearness."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.study.results.explained_model import ExplainedModel, Floats, RowSubset

__all__ = ["Nearness", "make_nearness"]

N_NEIGHBOURS = 10
N_TEST_ROWS = 5
TREES = 100
MOST_ROWS = 20_000
LEAF = 5
_STREAM = 11


@dataclass(frozen=True)
class Nearness:
    """A forest, by whose leaves rows are near to each other.

    It is the model itself if that is a forest of ours (``own``), else one that was grown to give
    the model's answers; ``agreement`` tells how well it does on the test rows.
    """

    subject: ExplainedModel
    forest: Any
    own: bool
    agreement: float | None
    part: RowSubset

    def facts(self, row: Floats, number: int | None) -> dict[str, Any]:
        """The training rows that reach the same leaf as the row in most trees.

        Parameters
        ----------
        row : array of shape (n_columns,)
            A row of the matrix.
        number : int or None
            Its number, if it is one of the study's rows, which is not near to itself.
        """
        return {
            "kind": "own" if self.own else "imitating",
            "n_trees": len(self.forest.estimators_),
            "agreement": self.agreement,
            "n_rows": len(self.part.x),
            "n_training_rows": len(self.subject.train.x),
            "rows": [
                self._described(at, near)
                for at, near in self._nearest(row, number, self.part, N_NEIGHBOURS)
            ],
        }

    def test_rows(self, row: Floats) -> list[int]:
        """Numbers, from 1, of the test rows that are most like the row."""
        part = self.subject.draw(self.subject.test, MOST_ROWS, _STREAM)
        nearest = self._nearest(row, None, part, N_TEST_ROWS)
        return [int(part.numbers[at]) + 1 for at, _ in nearest]

    def _nearest(
        self, row: Floats, number: int | None, part: RowSubset, most: int
    ) -> list[tuple[int, float]]:
        near, others = row[None, :], part.x
        if self.own:
            near, others = (self.subject.pipeline[:-1].transform(x) for x in (near, others))
        proximity = self.forest.proximity(near, others).toarray().ravel()
        proximity[part.numbers == number] = 0.0
        order = np.argsort(-proximity, kind="stable")[:most]
        return [(int(i), float(proximity[i])) for i in order if proximity[i] > 0]

    def _described(self, at: int, proximity: float) -> dict[str, Any]:
        subject, part = self.subject, self.part
        return {
            "row": int(part.numbers[at]) + 1,
            "proximity": proximity,
            "target": subject.prediction_text(float(part.y[at])),
            "values": [subject.text(j, value) for j, value in enumerate(part.x[at])],
        }


def make_nearness(subject: ExplainedModel) -> Nearness:
    """Take the model's own trees if it is a forest of ours, else grow a forest of its answers."""
    part = subject.draw(subject.train, MOST_ROWS, _STREAM)
    if hasattr(subject.pipeline[-1], "proximity"):
        return Nearness(subject, subject.pipeline[-1], True, None, part)
    kind = RandomForestClassifier if subject.classes else RandomForestRegressor
    forest = kind(
        n_estimators=TREES,
        min_samples_leaf=LEAF,
        categorical_features=list(subject.levels) or None,
        random_state=subject.seed,
    )
    forest.fit(part.x, subject.predict(part.x))
    return Nearness(subject, forest, False, _agreement(subject, forest), part)


def _agreement(subject: ExplainedModel, forest: Any) -> float:
    """On test rows: the share of equal classes, or R2 of the forest against the model's values."""
    said, model = (m.predict(subject.test.x) for m in (forest, subject.pipeline))
    if subject.classes:
        return float(np.mean(said == model))
    spread = float(np.sum((model - model.mean()) ** 2))
    return 1.0 - float(np.sum((said - model) ** 2)) / spread if spread else 1.0
