"""Nearest training rows by the proximity of a forest."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboleda.forest import RandomForestClassifier, RandomForestRegressor
from arboleda.study.results.explained_model import ExplainedModel, Floats, RowSubset

__all__ = ["ProximityForest", "make_proximity_forest"]

N_NEIGHBOURS = 10
N_TEST_ROWS = 5
TREES = 100
MOST_ROWS = 20_000
LEAF = 5
_STREAM = 11


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

    def facts(self, row: Floats, number: int | None) -> dict[str, Any]:
        """Find the training rows that share a leaf with the row in most trees.

        Parameters
        ----------
        row : array of shape (n_columns,)
            A row of the matrix.
        number : int or None
            Number of the row if it belongs to the study; it is not its own neighbour.
        """
        return {
            "kind": "own" if self.own else "imitating",
            "n_trees": len(self.forest.estimators_),
            "agreement": self.agreement,
            "n_rows": len(self.part.x),
            "n_training_rows": len(self.subject.train.x),
            "rows": [
                self._describe_row(at, near)
                for at, near in self._find_nearest(row, number, self.part, N_NEIGHBOURS)
            ],
        }

    def test_rows(self, row: Floats) -> list[int]:
        """Return the numbers, from 1, of the test rows nearest to the row."""
        part = self.subject.draw(self.subject.test, MOST_ROWS, _STREAM)
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

    def _describe_row(self, at: int, proximity: float) -> dict[str, Any]:
        subject, part = self.subject, self.part
        return {
            "row": int(part.numbers[at]) + 1,
            "proximity": proximity,
            "target": subject.prediction_text(float(part.y[at])),
            "values": [subject.text(j, value) for j, value in enumerate(part.x[at])],
        }


def make_proximity_forest(subject: ExplainedModel) -> ProximityForest:
    """Return the forest of the model, or fit a forest to its predictions."""
    part = subject.draw(subject.train, MOST_ROWS, _STREAM)
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
