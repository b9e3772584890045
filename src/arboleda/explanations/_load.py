"""Loading of the model and the row to explain from the folder of a study."""

from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from arboleda.explanations._row_facts import ExplainedRow
from arboleda.study import Study
from arboleda.study.errors import StudyError
from arboleda.study.results.explained_model import ExplainedModel, RowSubset

__all__ = ["load_row", "load_subject"]


def load_subject(folder: Path, seed: int) -> ExplainedModel:
    """Load the best model of a study and its rows.

    Raises
    ------
    StudyError
        If the folder contains no finished study, or the model or the rows cannot be read.
    """
    study = Study.load(folder)
    model, layout = study.best_model_, study.layout
    return ExplainedModel(
        folder=str(folder),
        facts=study.facts,
        key=study.best_key,
        pipeline=model.pipeline_,
        names=tuple(layout.names),
        levels=layout.levels,
        binary=tuple(layout.binary),
        labels=tuple(study.class_names),
        train=_encode_rows(layout, study.training_rows()),
        test=_encode_rows(layout, study.test_rows()),
        seed=seed,
    )


def _encode_rows(layout: Any, rows: Any) -> RowSubset:
    return RowSubset(layout.encode(rows.X).x, rows.codes, rows.numbers)


def load_row(subject: ExplainedModel, row: int) -> ExplainedRow:
    """Find a row of the table by its number, counted from 1.

    Raises
    ------
    StudyError
        If the table has no such row, or the study did not keep it.
    """
    study = subject.facts["study"]
    n_rows = subject.facts["data"]["n_rows"]
    if not isinstance(row, Integral) or not 1 <= row <= n_rows:
        raise StudyError(
            f"There is no row {row} in {study['table']}; choose one from 1 to {n_rows:,}."
        )
    number = int(row) - 1
    for name, part in (("test", subject.test), ("train", subject.train)):
        result = np.flatnonzero(part.numbers == number)
        if result.size:
            at = int(result[0])
            return ExplainedRow(number, n_rows, name, part.x[at], float(part.y[at]))
    raise StudyError(
        f"Row {row} of {study['table']} was not saved: the study saves only a sample of a large "
        f"table; choose another row, such as {int(subject.test.numbers[0]) + 1}."
    )
