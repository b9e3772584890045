"""The columns that ``arboleda predict`` writes, with prediction intervals and sets of classes.

Intervals and sets contain the truth for a given share of new rows.
They are calibrated on the study's out-of-fold predictions. With conformity scores s_i of n such
rows and q the ceil((n + 1) coverage)-th smallest of them,

    interval of x = [m(x) - q, m(x) + q]             s_i = |y_i - m_i(x_i)|
    set of x      = {k : 1 - p_k(x) <= q}            s_i = 1 - p_yi(x_i)

where m_i was fitted without the fold of row i: conformal prediction (Vovk, Gammerman, Shafer 2005;
Sadinle, Lei, Wasserman 2019 for the sets) with out-of-fold scores instead of those of a calibration
set (Vovk 2015, "Cross-conformal predictors"). New rows must be exchangeable with those of the
study. Errors usually grow with the value: the rows are binned by predicted value, and each bin has
its own q (Bostroem and Johansson 2020, "Mondrian conformal regressors").
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arboleda._utils.errors import StudyError, StudyFormatError
from arboleda._utils.number_types import is_real
from arboleda._utils.survival_times import choose_times
from arboleda.explain import compute_limit, compute_rank
from arboleda.scoring.scores import REJECTED, Predictions, class_scores, decide_by_cost
from arboleda.study.artifacts.estimators import predict_class_probabilities
from arboleda.study.artifacts.index import RESULTS
from arboleda.study.artifacts.loaded import StudyResult
from arboleda.study.artifacts.rows import HeldOut
from arboleda.study.artifacts.timed_estimators import StudySurvivalModel
from arboleda.study.execution.fitting import predict_curves
from arboleda.study.results.calibration import fit_calibrator

__all__ = [
    "TIMED",
    "ClassSets",
    "PredictionColumns",
    "PredictionIntervals",
    "check_coverage",
    "fit_intervals",
    "fit_sets",
]

# Maximum bins of the predicted value, and the minimum rows of each.
PARTS, ROWS_PER_PART = 10, 200

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PredictionIntervals:
    """Half-widths of intervals by the bin of the prediction.

    Attributes
    ----------
    cuts : ndarray of shape (n_parts - 1,)
        Upper ends of the bins, ascending, except the last.
    reach : ndarray of shape (n_parts,)
    """

    cuts: Floats
    reach: Floats

    def of(self, predicted: Floats) -> tuple[Floats, Floats]:
        """Return lower and upper bounds."""
        reach = self.reach[np.searchsorted(self.cuts, predicted)]
        return predicted - reach, predicted + reach


@dataclass(frozen=True)
class ClassSets:
    """A class is in the set of a row if its probability is at least ``1 - limit``."""

    limit: float

    def of(self, probabilities: Floats, predicted: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which classes are in the set of each row; the predicted one always is."""
        inside: npt.NDArray[np.bool_] = 1.0 - probabilities <= self.limit
        inside[np.arange(len(inside)), predicted] = True
        return inside


def fit_intervals(held_out: HeldOut, coverage: float) -> PredictionIntervals:
    """Fit half-widths of intervals to out-of-fold errors.

    Parameters
    ----------
    held_out : tuple of (ndarray, Predictions)
        Targets and their out-of-fold predictions.
    coverage : float
        Fraction of rows whose value should be in its interval.

    Raises
    ------
    StudyError
        If there are too few rows for so high a coverage.
    """
    y, predictions = held_out
    _check_rows(coverage, len(y))
    needed = max(ROWS_PER_PART, _least(coverage))
    n_parts = int(np.clip(len(y) // needed, 1, PARTS))
    predicted = np.asarray(predictions.predicted, dtype=np.float64)
    shares = np.arange(1, n_parts) / n_parts
    cuts = np.unique(np.quantile(predicted, shares, method="lower")) if n_parts > 1 else np.empty(0)
    part = np.searchsorted(cuts, predicted)
    missed = np.abs(y - predicted)
    if np.bincount(part, minlength=len(cuts) + 1).min() < needed:
        # Many rows share a prediction; some bins would be too small.
        cuts, part = np.empty(0), np.zeros(len(y), dtype=np.int64)
    reach = [compute_limit(np.sort(missed[part == k]), coverage) for k in range(len(cuts) + 1)]
    return PredictionIntervals(cuts, np.array(reach))


def fit_sets(probabilities: Floats, y: npt.NDArray[np.int64], coverage: float) -> ClassSets:
    """Fit the minimum probability of a class in the set.

    Parameters
    ----------
    probabilities : ndarray of shape (n, n_classes)
        Probabilities of held-out rows.
    y : ndarray of shape (n,)
        Their classes.
    coverage : float
        Fraction of rows whose class should be in its set.

    Raises
    ------
    StudyError
        If there are too few rows for so high a coverage.
    """
    _check_rows(coverage, len(y))
    return ClassSets(compute_limit(np.sort(1.0 - probabilities[np.arange(len(y)), y]), coverage))


def _least(coverage: float) -> int:
    """Return a number of rows that can guarantee a coverage."""
    n = 1
    while compute_rank(coverage, n) > n:
        n *= 2
    return n


def check_coverage(coverage: Any) -> None:
    """Check that a coverage is between 0 and 1.

    Raises
    ------
    StudyError
        If it is not.
    """
    if not is_real(coverage) or not 0.0 < float(coverage) < 1.0:
        raise StudyError(
            f"The coverage must be a number between 0 and 1, such as 0.9, got {coverage!r}."
        )


def _check_rows(coverage: float, n_rows: int) -> None:
    if compute_rank(coverage, n_rows) > n_rows:
        raise StudyError(
            f"A coverage of {coverage:g} needs more than {n_rows:,} held-out rows; choose a "
            "lower one."
        )


# What the predictions of tasks without values and classes are.
TIMED = {"survival": "a risk", "ranking": "a score of ranks"}
_TIMED_NOTES = {
    "survival": "A larger risk means an earlier event; survival is the probability of no event by "
    "the time.",
    "ranking": "Rows of a query rank by descending scores.",
}


class PredictionColumns:
    """Predicts rows of the study's matrix, block by block.

    The columns are ``prediction``; ``probability of <class>`` if the model predicts probabilities;
    with ``intervals`` the bounds ``lower <c> %`` and ``upper <c> %``, or ``set <c> %``, the set of
    classes; and ``decision`` if the study has costs. Of a time to an event they are ``risk`` and
    ``survival at <time>`` for a few times of the study; of a ranking ``score``.

    Parameters
    ----------
    study : StudyResult
    intervals : float or None
        Fraction of rows whose true value or class should lie within.
    model : str or None
        Key or name of a saved model; None: the best.

    Raises
    ------
    StudyError
        If the study has no or too few out-of-fold predictions, and they are needed.
    """

    def __init__(
        self, study: StudyResult, intervals: float | None = None, model: str | None = None
    ) -> None:
        if intervals is not None:
            check_coverage(intervals)
        key = study.find_key(model)
        fitted = study.model(key)
        self.key, self._pipeline = key, fitted.pipeline_
        self._names = study.class_names
        self._classes = fitted.classes_ if study.class_names else None
        self._share = "" if intervals is None else f"{100 * intervals:.6g} %"
        self._costs = study.facts.get("costs")
        self._facts_file = study.folder / RESULTS
        self._has_own = bool(study.class_names) and hasattr(self._pipeline, "predict_proba")
        is_uncalibrated = bool(study.class_names) and not self._has_own
        self._timed = study.task if study.task in TIMED else None
        self._times = choose_times(fitted.times) if isinstance(fitted, StudySurvivalModel) else ()
        if self._timed and intervals is not None:
            raise StudyError(
                f"There are no intervals of {TIMED[self._timed]}; leave out --intervals."
            )
        needed = intervals is not None or self._costs is not None or is_uncalibrated
        # Only those of the best model are saved.
        held_out = study.held_out() if needed and key == study.best_key else None
        if intervals is not None and key != study.best_key:
            raise StudyError(
                f"Intervals need out-of-fold predictions, which are saved of the best model only, "
                f"{study.best_key}; leave out --intervals, or --model."
            )
        if intervals is not None and held_out is None:
            raise StudyError(
                f"The study in {study.folder} has no out-of-fold predictions, which intervals "
                "need; run the study's command again: finished work is kept."
            )
        self._reach: Any = None
        self._is_calibrated = False
        self.notes: list[str] = [_TIMED_NOTES[self._timed]] if self._timed else []
        if self._names:
            self._fit_classes(held_out, intervals, study.facts["study"]["seed"])
        elif held_out is not None and intervals is not None:
            self._reach = fit_intervals(held_out, intervals)

    @property
    def has_probabilities(self) -> bool:
        """Whether there are columns with the probabilities of the classes."""
        return self._has_own or self._is_calibrated

    def _fit_classes(self, held_out: Any, intervals: float | None, seed: int) -> None:
        y, predictions = (np.empty(0, dtype=np.int64), None) if held_out is None else held_out
        self._calibrator = fit_calibrator(predictions, y, len(self._names), seed)
        self._is_calibrated = not self._has_own and predictions is not None
        if self._is_calibrated:
            self.notes.append(
                "The model gives no probabilities; they are computed from its scores, calibrated "
                f"by {self._calibrator.method} on out-of-fold predictions."
            )
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
            method = self._calibrator.method
            how = "as they are" if method == "none" else f"calibrated by {method}"
            self.notes.append(f"Decisions are those of least expected cost, probabilities {how}.")

    def table(self, block: Floats) -> tuple[pa.Table, list[str] | None]:
        """Return the columns for some rows, and the predicted classes as in the study's table."""
        predicted = self._pipeline.predict(block)
        if not self._names:
            values = np.asarray(predicted, dtype=np.float64)
            if self._timed is not None:
                return pa.table(self._make_timed_columns(block, values)), None
            columns: dict[str, Any] = {"prediction": values}
            if self._reach is not None:
                lower, upper = self._reach.of(values)
                columns |= {f"lower {self._share}": lower, f"upper {self._share}": upper}
            return pa.table(columns), None
        assert self._classes is not None
        columns = {"prediction": pa.array(self._classes[predicted])}
        if self.has_probabilities:
            p = self._compute_probabilities(block, np.asarray(predicted, dtype=np.int64))
            columns |= {f"probability of {c}": p[:, k] for k, c in enumerate(self._names)}
        if self._reach is not None or self._costs is not None:
            columns |= self._sets_and_decisions(block, np.asarray(predicted, dtype=np.int64))
        return pa.table(columns), [self._names[k] for k in predicted]

    def _make_timed_columns(self, block: Floats, values: Floats) -> dict[str, Floats]:
        """Return risks with survival at a few times, or scores of ranks."""
        if self._timed == "ranking":
            return {"score": values}
        pipeline = self._pipeline
        curves = predict_curves(pipeline[-1], pipeline[:-1].transform(block), self._times)
        named = {f"survival at {time:g}": curves[:, k] for k, time in enumerate(self._times)}
        return {"risk": values, **named}

    def _compute_probabilities(self, block: Floats, predicted: npt.NDArray[np.int64]) -> Floats:
        """Return the model's own probabilities, or those of its calibrated scores."""
        if self._has_own:
            return predict_class_probabilities(self._pipeline, block, len(self._names))
        score = class_scores(self._pipeline, block, len(self._names))
        return self._calibrator.probabilities(Predictions(predicted, score))

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
