"""The columns that ``arboleda predict`` writes: predictions of a study's best model."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arboleda.study.artifacts.estimators import probabilities
from arboleda.study.artifacts.facts_file import RESULTS
from arboleda.study.artifacts.loaded import LoadedStudy
from arboleda.study.errors import StudyError, StudyFormatError
from arboleda.study.execution.prediction_store import Predictions
from arboleda.study.results.calibrator import fit_calibrator
from arboleda.study.results.conformal import check_coverage, fit_intervals, fit_sets
from arboleda.study.results.costs import REJECTED, decide_by_cost
from arboleda.study.results.scoring import class_scores

__all__ = ["PredictionColumns"]

Floats = npt.NDArray[np.float64]


class PredictionColumns:
    """Predicts rows of the study's matrix, block by block.

    The columns are ``prediction``; ``probability of <class>`` if the model predicts probabilities;
    with ``intervals`` the bounds ``lower <c> %`` and ``upper <c> %``, or ``set <c> %``, the set of
    classes; and ``decision`` if the study has costs.

    Parameters
    ----------
    study : LoadedStudy
    intervals : float or None
        Fraction of rows whose true value or class should lie within.

    Raises
    ------
    StudyError
        If the study has no or too few out-of-fold predictions, and they are needed.
    """

    def __init__(self, study: LoadedStudy, intervals: float | None = None) -> None:
        if intervals is not None:
            check_coverage(intervals)
        self._pipeline = study.best_model_.pipeline_
        self._names = study.class_names
        self._classes = study.best_model_.classes_ if study.class_names else None
        self._share = "" if intervals is None else f"{100 * intervals:.6g} %"
        self._costs = study.facts.get("costs")
        self._facts_file = study.folder / RESULTS
        needed = intervals is not None or self._costs is not None
        held_out = study.held_out() if needed else None
        if intervals is not None and held_out is None:
            raise StudyError(
                f"The study in {study.folder} has no out-of-fold predictions, which intervals "
                "need; run the study's command again: finished work is kept."
            )
        self._reach: Any = None
        self.notes: list[str] = []
        if self._names:
            self._fit_classes(held_out, intervals, study.facts["study"]["seed"])
        elif held_out is not None and intervals is not None:
            self._reach = fit_intervals(held_out, intervals)

    def _fit_classes(self, held_out: Any, intervals: float | None, seed: int) -> None:
        y, predictions = (np.empty(0, dtype=np.int64), None) if held_out is None else held_out
        self._calibrator = fit_calibrator(predictions, y, len(self._names), seed)
        if intervals is not None and predictions is not None:
            self._reach = fit_sets(self._calibrator.probabilities(predictions), y, intervals)
        if self._costs is not None:
            self._matrix = np.array(self._costs["matrix"], dtype=np.float64)
            if self._matrix.shape != (len(self._names),) * 2:
                raise StudyFormatError(
                    f"The costs in {self._facts_file} do not fit the study's classes; run "
                    "the study's command again: finished work is kept."
                )
            self._rejected = "rejected" if "rejected" not in self._names else "(rejected)"
            how = self._calibrator.method
            how = "as they are" if how == "none" else f"calibrated by {how}"
            self.notes.append(f"Decisions are those of least expected cost, probabilities {how}.")

    def table(self, block: Floats) -> tuple[pa.Table, list[str] | None]:
        """Return the columns for some rows, and the predicted classes as in the study's table."""
        predicted = self._pipeline.predict(block)
        if not self._names:
            values = np.asarray(predicted, dtype=np.float64)
            columns: dict[str, Any] = {"prediction": values}
            if self._reach is not None:
                lower, upper = self._reach.of(values)
                columns |= {f"lower {self._share}": lower, f"upper {self._share}": upper}
            return pa.table(columns), None
        assert self._classes is not None
        columns = {"prediction": pa.array(self._classes[predicted])}
        if hasattr(self._pipeline, "predict_proba"):
            p = probabilities(self._pipeline, block, len(self._names))
            columns |= {f"probability of {c}": p[:, k] for k, c in enumerate(self._names)}
        if self._reach is not None or self._costs is not None:
            columns |= self._sets_and_decisions(block, np.asarray(predicted, dtype=np.int64))
        return pa.table(columns), [self._names[k] for k in predicted]

    def _sets_and_decisions(
        self, block: Floats, predicted: npt.NDArray[np.int64]
    ) -> dict[str, list[str]]:
        """Return the sets and the decisions as text."""
        score = class_scores(self._pipeline, block, len(self._names))
        p = self._calibrator.probabilities(Predictions(predicted, score))
        found = {}
        if self._reach is not None:
            inside = self._reach.of(p, predicted)
            order = np.argsort(-p, axis=1, kind="stable")
            found[f"set {self._share}"] = [
                " | ".join(self._names[k] for k in ranked if row[k])
                for row, ranked in zip(inside, order, strict=True)
            ]
        if self._costs is not None:
            decisions = decide_by_cost(p, self._matrix, self._costs["reject_cost"])
            found["decision"] = [
                self._rejected if k == REJECTED else self._names[k] for k in decisions.tolist()
            ]
        return found
