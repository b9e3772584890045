"""The page of a study's model: an HTML file in which it predicts, offline."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._locale import use_locale
from arboleda._utils.errors import StudyError
from arboleda._utils.files import write_atomically
from arboleda._utils.survival_times import choose_times
from arboleda._utils.text import visible_lines
from arboleda.reports.fact_messages import translate
from arboleda.reports.study.page_link import add_page_link
from arboleda.reports.translation import get_locale
from arboleda.study.artifacts.exports import find_onnx_converters
from arboleda.study.artifacts.files import check_language, choose_page_path, report_unwritable
from arboleda.study.artifacts.loaded import PAGE, StudyModel, StudyResult, load_study
from arboleda.tables.column_formats import ColumnFormat
from arboleda.tables.date_parsing import MONTHS, ZONES, ClockFormat, DateFormat
from arboleda.tables.number_parsing import MONEY, NumberFormat
from arboleda.tables.table import MISSING

if TYPE_CHECKING:
    from arboleda.page_export import PageColumn, PageGraph
    from arboleda.tables.column_conversion import RawColumn

__all__ = ["WrittenPage", "page"]

Floats = npt.NDArray[np.float64]

# Rows of a sample from which typical values and ranges are computed.
_MAX_SAMPLE = 20_000
_MAX_ROWS = 1000


@dataclass(frozen=True)
class WrittenPage:
    """The file that was written: its path, the model's name, and notes for the user."""

    path: Path
    name: str
    notes: tuple[str, ...]


def page(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    model: str | None = None,
    intervals: float | None = None,
    include_rows: int = 0,
    lang: str | None = None,
) -> WrittenPage:
    """Write a page in which a model of a study predicts, in the browser and offline.

    The page has a form with the columns of the study's table, the prediction with probabilities, an
    interval or the decision of least expected cost, and the contributions of the columns. It
    predicts CSV files, too. The study's report links to a page in the study's folder.

    Parameters
    ----------
    folder : str or path
        The study's folder.
    out : str or path, optional
        The file, or a folder for ``page.html``; by default that of the study. A name that ends in
        ``.html``, or that belongs to an existing file, is a file.
    model : str, optional
        Key or name of a saved model; by default the best that a page can compute. Nearest
        neighbours and kernel machines consist of training rows, so no page has them.
    intervals : float, optional
        Fraction of rows whose true value should lie in its interval (or class in its set). By
        default, values have intervals of 0.9 if the study has out-of-fold predictions.
    include_rows : int, default=0
        Number of training rows to put into the page, up to 1,000, as examples and to show the
        nearest ones. By default the page holds none.
    lang : {"en", "es"}, optional
        Language of the page; by default that of the study.

    Returns
    -------
    WrittenPage

    Raises
    ------
    StudyError
        If the folder cannot be used, there is no such model, a page cannot compute it, or the file
        cannot be written.

    Warns
    -----
    UserWarning
        If the page has more than 20 MB.

    Examples
    --------
    >>> from arboleda.study import page
    >>> page("studies/iris-target", "iris.html").name  # doctest: +SKIP
    'Linear discriminant analysis'
    """
    if not 0 <= include_rows <= _MAX_ROWS:
        raise StudyError(f"--include-rows must be from 0 to {_MAX_ROWS:,}, got {include_rows}.")
    study = load_study(folder)
    language = lang or study.facts["study"].get("settings", {}).get("lang", "en")
    check_language(language)
    keys = [study.find_key(model)] if model is not None else _order_keys(study)
    path = choose_page_path(None if out is None else Path(out), study.folder / PAGE)
    built, notes = _find_model(study, keys, intervals)
    name = built.name
    text, more_notes = built.write(include_rows, language)
    with report_unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
        add_page_link(study.report, path, language)
    return WrittenPage(path, name, (*notes, *more_notes))


def _order_keys(study: StudyResult) -> list[str]:
    """Return the keys of the saved models, the best one first, which may be missing."""
    best = study.best_key
    return [best, *(key for key in study.keys if key != best)]


def _find_model(
    study: StudyResult, keys: list[str], intervals: float | None
) -> tuple[_StudyPage, list[str]]:
    """Return the page of the first model that one can compute, and a note on those before it."""
    refusals: list[str] = []
    for key in keys:
        try:
            found = _StudyPage(study, key, intervals)
        except _RefusedModelError as error:
            refusals.append(str(error))
            continue
        notes = [f"{refusals[0]}; the page has {found.name}."] if refusals else []
        return found, notes
    remedy = (
        "use arboleda predict"
        if len(keys) > 1
        else f"choose another model with --model: {', '.join(study.keys[:8])}"
    )
    raise StudyError(f"{refusals[0]}; {remedy}.")


class _RefusedModelError(StudyError):
    """A page cannot compute a model."""


class _StudyPage:
    """A page under construction."""

    def __init__(self, study: StudyResult, key: str, intervals: float | None) -> None:
        self._study, self._key = study, key
        self._times = choose_times(study.times) if study.task == "survival" else None
        self.name: str = next(m["name"] for m in study.facts["models"] if m["key"] == key)
        self._model: StudyModel = study.model(key)
        self._intervals = intervals
        self._notes: list[str] = []
        self._graph, self._output, self._scores = self._convert()

    def write(self, include_rows: int, language: str) -> tuple[str, list[str]]:
        """Return the HTML file, and notes for the user."""
        from arboleda.page_export import PageContent, describe_explanation, write_page

        study, pipeline = self._study, self._model.pipeline_
        sample, rows = self._read_rows(include_rows)
        owners = self._find_owners()
        explanation = describe_explanation(pipeline[-1], self._graph, owners)
        if explanation is not None and study.class_names:
            outputs = [study.class_names[int(label)] for label in explanation["outputs"]]
            explanation["outputs"] = outputs
        with use_locale(get_locale(language)):
            name = translate(self.name)
        content = PageContent(
            title=visible_lines(f"{study.target}: {study.facts['study']['table']}"),
            model=name,
            graph=self._graph,
            n_columns=len(study.layout.names),
            output=self._output,
            scores=self._scores,
            columns=self._make_columns(sample),
            classes=list(study.class_names) or None,
            explanation=explanation,
            rows=rows,
            rules=self._make_rules(),
        )
        return write_page(content, language), self._notes

    def _convert(self) -> tuple[PageGraph, int, int]:
        """Return the operators, with the steps of the outputs and of the deciding scores."""
        from arboleda.page_export import convert_coded, describe_refusal, make_converters

        converters = find_onnx_converters() | dict(make_converters(self._times))
        try:
            return convert_coded(self._model.pipeline_, len(self._study.class_names), converters)
        except (TypeError, ValueError) as error:
            raise _RefusedModelError(describe_refusal(self.name, error)) from error

    def _read_rows(self, count: int) -> tuple[Floats | None, list[list[str]] | None]:
        """Return the matrix of a sample of training rows, and cells of rows to include."""
        study = self._study
        try:
            rows = study.training_rows()
        except StudyError as error:
            self._notes.append(f"The page has no typical values and ranges: {error}")
            return None, None
        places = np.unique(np.linspace(0, len(rows) - 1, _MAX_SAMPLE).astype(np.int64))
        sample = study.layout.encode(rows.X.take(places)).x
        if not count:
            return sample, None
        chosen = np.unique(np.linspace(0, len(rows) - 1, count).astype(np.int64))
        table = rows.X.take(chosen)
        columns = [table.column(c.words_of or c.name).to_pylist() for c in study.layout.columns]
        cells = [[_write_cell(value) for value in column] for column in columns]
        return sample, [list(row) for row in zip(*cells, strict=True)]

    def _find_owners(self) -> list[int]:
        """Return the form's column of each column of the matrix."""
        counts = [_count_numbers(column) for column in self._study.layout.columns]
        return [j for j, count in enumerate(counts) for _ in range(count)]

    def _make_columns(self, sample: Floats | None) -> list[PageColumn]:
        columns, place = [], 0
        for column in self._study.layout.columns:
            width = _count_numbers(column)
            values = None if sample is None else sample[:, place : place + width]
            columns.append(_make_column(column, values))
            place += width
        return columns

    def _make_rules(self) -> dict[str, Any]:
        """Return the rules that the script applies to outputs: intervals, sets, costs."""
        study = self._study
        rules: dict[str, Any] = {
            "missing_texts": list(MISSING),
            "missing_code": -1,
            "unknown_is_last": True,
            "written": {"money": MONEY, "months": MONTHS, "zones": ZONES},
        }
        if study.task in ("survival", "ranking"):
            return rules | self._name_outputs()
        costs = study.facts.get("costs")
        held_out = study.held_out() if self._key == study.best_key else None
        if self._intervals is not None and held_out is None:
            raise StudyError(
                "Intervals need out-of-fold predictions, which are saved of the best model only, "
                f"{study.best_key}; leave out --intervals, or --model."
            )
        if not study.class_names:
            return rules | self._fit_interval(held_out)
        from arboleda.study.results.calibration import fit_calibrator
        from arboleda.study.results.prediction_columns import check_coverage, fit_sets

        if costs is None and self._intervals is None:
            return rules
        y, predictions = (np.empty(0, np.int64), None) if held_out is None else held_out
        seed = study.facts["study"]["seed"]
        calibrator = fit_calibrator(predictions, y, len(study.class_names), seed)
        rules["calibration"] = _describe_calibrator(calibrator)
        if self._intervals is not None and predictions is not None:
            check_coverage(self._intervals)
            sets = fit_sets(calibrator.probabilities(predictions), y, self._intervals)
            rules["sets"] = {"limit": sets.limit, "share": _name_share(self._intervals)}
        if costs is not None:
            rules["costs"] = {"matrix": costs["matrix"], "reject_cost": costs["reject_cost"]}
        return rules

    def _name_outputs(self) -> dict[str, Any]:
        """Return the names of risks and survival, or of a score of ranks, as in `predict`."""
        from arboleda.page_export import write_output_rules
        from arboleda.study.results.prediction_columns import TIMED

        if self._intervals is not None:
            raise StudyError(
                f"There are no intervals of {TIMED[self._study.task]}; leave out --intervals."
            )
        named = write_output_rules(self._model.pipeline_[-1], self._times)
        return named or {"header": ["score"]}

    def _fit_interval(self, held_out: Any) -> dict[str, Any]:
        """Fit the interval of values; by default, none if there are too few rows."""
        from arboleda.study.results.prediction_columns import check_coverage, fit_intervals

        if held_out is None:
            return {}
        coverage = 0.9 if self._intervals is None else self._intervals
        check_coverage(coverage)
        try:
            fitted = fit_intervals(held_out, coverage)
        except StudyError:
            if self._intervals is not None:
                raise
            return {}
        return {
            "interval": {
                "cuts": fitted.cuts.tolist(),
                "reach": fitted.reach.tolist(),
                "share": _name_share(coverage),
            }
        }


def _name_share(coverage: float) -> str:
    return f"{100 * coverage:.6g} %"


def _count_numbers(column: RawColumn) -> int:
    """Return the number of columns of the matrix that a column becomes."""
    if column.kind == "datetime":
        return len(column.parts)
    return 1 if column.encoding is None else len(column.encoding.names)


def _make_column(column: RawColumn, values: Floats | None) -> PageColumn:
    """Make a column of the form, with the typical value of the sample."""
    from arboleda.page_export import PageColumn, describe_codes, describe_numbers

    facts: dict[str, Any] = {"typical": None, "has_words": column.has_words}
    if column.merged:
        facts["merged"] = [list(pair) for pair in column.merged]
    if column.words_of is not None:
        facts["words_of"] = column.words_of
    if column.format is not None:
        facts["format"] = _describe_format(column.format)
    if column.kind == "datetime":
        form = column.format if isinstance(column.format, DateFormat) else DateFormat()
        facts |= {"parts": list(column.parts), "format": _describe_format(form)}
        facts["typical"] = None if values is None else _find_typical_date(column, values)
        return PageColumn(column.name, "date", facts=facts)
    if column.encoding is not None:
        facts["encoding"] = column.encoding.to_dict()
        kind = "list" if column.kind == "list" else "text"
        return PageColumn(column.name, kind, facts=facts)  # type: ignore[arg-type]
    if column.kind == "categorical":
        if values is not None:
            facts |= describe_codes(values[:, 0], len(column.levels))
        return PageColumn(column.name, "category", column.levels, facts)
    if values is not None:
        facts |= describe_numbers(values[:, 0])
    return PageColumn(column.name, "boolean" if column.kind == "boolean" else "number", facts=facts)


def _describe_format(form: ColumnFormat) -> dict[str, Any]:
    """Describe how the values of a column are written."""
    if isinstance(form, NumberFormat):
        return {
            "decimal": form.decimal,
            "thousands": form.thousands,
            "factors": dict(form.factors),
            "currencies": list(form.currencies),
        }
    if isinstance(form, ClockFormat):
        return {"clock": True}
    return {"order": form.order, "epoch": form.epoch}


def _find_typical_date(column: RawColumn, values: Floats) -> str | None:
    """Return the median date; the last one of the days if there are none."""
    if "days" not in column.parts:
        return None
    days = values[:, column.parts.index("days")]
    if not np.isfinite(days).any():
        return None
    median = np.quantile(days[np.isfinite(days)], 0.5, method="lower")
    return str(np.datetime64(int(np.floor(median)), "D"))


def _write_cell(value: Any) -> str:
    """Return the text of a cell, as a CSV file has it."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return text.removesuffix("T00:00:00")


def _describe_calibrator(calibrator: Any) -> dict[str, Any]:
    """Describe a calibration by its numbers."""
    if calibrator.fitted is None:
        return {"method": "none"}
    if not calibrator.of_probabilities:
        warnings.warn(
            "The page decides by the logistic function of scores, without their calibration.",
            stacklevel=4,
        )
        return {"method": "none"}
    fitted = calibrator.fitted.calibrated_classifiers_[0].calibrators
    if calibrator.method == "temperature":
        return {"method": "temperature", "beta": float(fitted[0].beta_)}
    if calibrator.method == "sigmoid":
        parts = [{"slope": float(one.a_), "start": float(one.b_)} for one in fitted]
        return {"method": "sigmoid", "parts": parts}
    return {
        "method": "isotonic",
        "parts": [
            {"x": one.X_thresholds_.tolist(), "y": one.y_thresholds_.tolist()} for one in fitted
        ],
    }
