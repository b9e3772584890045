"""The members of combinations: their stored predictions, and remarks on them for the reader.

The mean of the models fitted in the folds is a member, too, instead of one model fitted to all
rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from arboleda.combine import MemberOutputs
from arboleda.reports.fact_messages import write_message
from arboleda.scoring.scores import are_probabilities
from arboleda.study.artifacts.combined_file import serialize_combined
from arboleda.study.artifacts.files import FileList
from arboleda.study.artifacts.model_files import read_model, save_combined
from arboleda.study.combination.estimators import CombinedClassifier, CombinedRegressor
from arboleda.study.combination.methods import FEWEST
from arboleda.study.combination.rules import MeanRule
from arboleda.study.execution.job import Job
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    PredictionRequest,
    load_member_outputs,
    load_predictions,
    predictions_path,
)
from arboleda.study.plan import Plan
from arboleda.study.search.model_search import Outcome
from arboleda.study.search.strategies import Trial

__all__ = ["FoldMean", "Members", "Remarks", "is_saved", "load_members", "make_remarks"]

Floats = npt.NDArray[np.float64]
_FIRST = (
    "Before the first window of time nothing is known of the members: there their plain mean is "
    "judged."
)


@dataclass(frozen=True)
class Remarks:
    """Sentences on models that are not members, and on members by their keys."""

    left_out: tuple[str, ...]
    members: Mapping[str, str]

    def list_remarks(self, keys: Sequence[str], *, in_time: bool) -> list[str]:
        """Return the remarks on a combination of these members."""
        found = [*self.left_out, *(self.members[key] for key in keys if key in self.members)]
        return [*found, _FIRST] if in_time else found


@dataclass(frozen=True, eq=False)
class Members:
    """The possible members, and their predictions for each fold, for all folds and for the test.

    ``remarks`` are notes on models for the reader of a combination, by key.
    """

    outcomes: tuple[Outcome, ...]
    parts: tuple[MemberOutputs, ...]
    whole: MemberOutputs
    test: MemberOutputs
    remarks: Remarks

    def select(self, keys: Sequence[str]) -> "Members":
        """Return the members of these keys."""
        places = [i for i, o in enumerate(self.outcomes) if o.model.key in set(keys)]
        return Members(
            tuple(self.outcomes[i] for i in places),
            tuple(_select_outputs(part, places) for part in self.parts),
            _select_outputs(self.whole, places),
            _select_outputs(self.test, places),
            self.remarks,
        )


def _select_outputs(outputs: MemberOutputs, places: list[int]) -> MemberOutputs:
    names = [outputs.names[i] for i in places]
    return MemberOutputs(
        names, outputs.outputs[places], outputs.classes, outputs.rows, outputs.n_table_rows
    )


def load_members(plan: Plan, outcomes: Sequence[Outcome], folder: Path) -> Members | None:
    """Load the members' predictions; None if members are too few or files are missing."""
    if plan.settings.cv.kind == "bootstrap":
        return None
    able = [o for o in outcomes if o.model.learns and o.test and not o.error and is_saved(o)]
    if len(able) < FEWEST:
        return None
    jobs = [plan.trial_jobs(o.model, Trial(o.params)) for o in able]
    folds = list(zip(*jobs, strict=True))
    parts = [_load_outputs(plan, folder, [fold]) for fold in folds]
    whole = _load_outputs(plan, folder, folds)
    test = _load_outputs(plan, folder, [[plan.test_job(o.model, o.params) for o in able]])
    if whole is None or test is None or any(part is None for part in parts):
        return None
    finite = [
        o
        for o, held_out, tested in zip(able, whole.outputs, test.outputs, strict=True)
        if np.isfinite(held_out).all() and np.isfinite(tested).all()
    ]
    remarks = make_remarks(plan, outcomes, finite, folder)
    members = Members(tuple(able), tuple(p for p in parts if p is not None), whole, test, remarks)
    return members.select([o.model.key for o in finite]) if len(finite) >= FEWEST else None


def _load_outputs(plan: Plan, folder: Path, jobs: Sequence[Sequence[Job]]) -> MemberOutputs | None:
    """Load the predictions of jobs: for each set of rows, one job per member."""
    parts = [
        PredictionRequest(
            part[0].score_rows,
            tuple(
                predictions_path(folder / PREDICTIONS_DIR, j.model, j.params, j.entry) for j in part
            ),
        )
        for part in jobs
    ]
    names = [job.model for job in jobs[0]]
    return load_member_outputs(names, parts, len(plan.target.y), plan.target.labels)


def is_saved(outcome: Outcome) -> bool:
    """Whether the fitted model is in the study's folder."""
    return outcome.test is not None and outcome.test["kept"]["error"] is None


def make_remarks(
    plan: Plan, outcomes: Sequence[Outcome], members: Sequence[Outcome], folder: Path
) -> Remarks:
    """Return remarks on the models' predictions for the test rows.

    Parameters
    ----------
    plan : Plan
    outcomes : sequence of Outcome
        All models.
    members : sequence of Outcome
        The members of combinations.
    folder : Path
        The study's folder.
    """
    keys = {o.model.key for o in members}
    others = [o for o in outcomes if o.model.learns and not o.error and o.model.key not in keys]
    left_out = [
        write_message("not_finite" if is_saved(o) else "not_kept", what=o.model.name)
        for o in others
    ]
    described = {
        o.model.key: _describe_outputs(plan, o, folder) for o in members if plan.target.labels
    }
    return Remarks(tuple(left_out), {key: text for key, text in described.items() if text})


def _describe_outputs(plan: Plan, outcome: Outcome, folder: Path) -> str | None:
    """Describe how a model's outputs become probabilities; None if it predicts these."""
    job = plan.test_job(outcome.model, outcome.params)
    path = predictions_path(folder / PREDICTIONS_DIR, job.model, job.params, job.entry)
    predictions = load_predictions(path, len(job.score_rows), len(plan.target.labels))
    if predictions is None:
        return None
    if predictions.score is not None and are_probabilities(predictions.score):
        return None
    name = outcome.model.name
    if predictions.score is None:
        return write_message("classes", what=name)
    return write_message("decisions", what=name)


def _has_classes(model: Any) -> bool:
    return bool(model.n_classes)


class FoldMean(BaseEstimator):  # type: ignore[misc]
    """The mean of saved models; `fit` reads them.

    Parameters
    ----------
    folder : Path
        Folder of the study's models.
    key : str
        Key of the model that the folds fitted.
    files : mapping of str to mapping
        Name and list of files of each saved model.
    n_classes : int
        0 in a regression.
    """

    model_: CombinedClassifier | CombinedRegressor

    def __init__(
        self, folder: Path, key: str, files: Mapping[str, FileList], n_classes: int
    ) -> None:
        self.folder = folder
        self.key = key
        self.files = files
        self.n_classes = n_classes

    def fit(self, X: Floats, y: Any) -> Self:
        """Read the saved models, which were fitted to these rows, each to those of its fold."""
        pipelines = [read_model(self.folder, name, files) for name, files in self.files.items()]
        members, rule, width = [(self.key, pipelines)], MeanRule((1.0,)), X.shape[1]
        if self.n_classes:
            self.model_ = CombinedClassifier.from_fitted(members, rule, width, self.n_classes)
            self.classes_: npt.NDArray[np.int64] = self.model_.classes_
        else:
            self.model_ = CombinedRegressor.from_fitted(members, rule, width)
        self.n_features_in_ = width
        return self

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """Predict numbers of the most probable classes, or values."""
        return np.asarray(self.model_.predict(X))

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Floats) -> Floats:
        """Predict the mean probability of each class."""
        return np.asarray(self.model_.predict_proba(X))

    def keep(self, folder: Path, key: str) -> dict[str, Any]:
        """Write the file that combines the saved models, as `save_model` does."""
        content = serialize_combined(
            [(self.key, list(self.files))], MeanRule((1.0,)), self.n_features_in_, self.n_classes
        )
        return save_combined(folder, key, content, list(self.files.values()))
