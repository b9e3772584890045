"""The leaderboard as a table for the terminal, and as the text of ``leaderboard.csv``."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup
from rich.table import Table
from rich.text import Text

from arboleda._utils.frames import new_frame
from arboleda._utils.numbers import format_duration, format_mean_and_sd, format_number
from arboleda._utils.simple_plots import draw_intervals
from arboleda._utils.text import visible, visible_lines
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.study.summary import describe_baseline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "caveats",
    "csv_safe",
    "failures",
    "leaderboard_csv",
    "leaderboard_table",
    "make_leaderboard_columns",
    "make_leaderboard_frame",
    "params_text",
    "plot_leaderboard",
    "preparation",
    "summarize_facts",
    "summarize_html",
]

# Terminal widths from which the time and the chosen parameters are shown.
_TIMED, _WIDE = 60, 120
# Descriptions of the rows that remain after the steps of a recipe.
_STEPS = {
    "drop_missing_target": "with a target",
    "drop_missing": "without missing values",
    "drop_duplicates": "without duplicates",
    "where": "where {condition}",
}
_SUMMARIZED = 8  # models in the summary for a notebook
# Scores of each class in leaderboard.csv.
CLASS_SCORES = ("precision", "recall", "f1")
# A spreadsheet interprets text with these first characters as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def leaderboard_table(facts: Mapping[str, Any], *, width: int) -> Table:
    """Return a table of models, best first, with scores, and time and parameters if they fit."""
    study = facts["study"]
    title = f"{study['table']}, target {study['target']}: {study['metric_label']}"
    table = Table(title=Text(visible(title)))
    table.add_column("#", justify="right", no_wrap=True)
    # Names are folded before numbers are.
    table.add_column("Model", overflow="fold")
    for name in ("Cross-validated", "Test", "Search")[: 3 if width >= _TIMED else 2]:
        table.add_column(name, no_wrap=True)
    if width >= _WIDE:
        table.add_column("Parameters", overflow="fold")
    for rank, model in enumerate(facts["models"], start=1):
        cells = [Text(str(rank)), Text(visible(model["name"])), *_cells(model, study["metric"])]
        cells.append(Text(visible(params_text(model))))
        table.add_row(*cells[: len(table.columns)])
    return table


def caveats(facts: Mapping[str, Any]) -> list[str]:
    """Return the winner's scores, its comparison with the others, and with the baseline."""
    found = [facts[part]["sentence"] for part in ("selection", "comparison") if facts[part]]
    baseline = describe_baseline(ReportData(facts))
    return [*found, baseline] if baseline else found


def preparation(facts: Mapping[str, Any]) -> str | None:
    """Return a sentence on the rows that the recipe left; None if it dropped none."""
    recipe, data = facts["data"].get("recipe"), facts["data"]
    if recipe is None or recipe["n_rows"] == data["n_rows"]:
        return None
    steps = [
        f"{_STEPS[step['kind']].format(**step)}, {step['rows_after']:,}"
        for step in recipe["steps"]
        if step["kind"] in _STEPS
    ]
    return (
        f"{data['n_rows']:,} of {recipe['n_rows']:,} rows stay after the preparation of the table: "
        f"{'; '.join(steps)}."
    )


def failures(facts: Mapping[str, Any]) -> list[str]:
    """Return a line per model that failed, was not saved, or was skipped for lack of time."""
    failed = [
        f"{m['name']}: {m['error']}"
        if m["status"] == "no_time"
        else f"{m['name']} failed: {m['error']}"
        for m in facts["models"]
        if m["error"]
    ]
    lost = [m for m in facts["models"] if m["not_kept"]]
    late = [_late(left) for left in facts.get("search", {}).get("left_out", [])]
    return failed + [f"{m['name']} is not kept: {m['not_kept']}" for m in lost] + late


def _late(left: Mapping[str, Any]) -> str:
    n = left["candidates"]
    if left["whole"]:
        return f"{left['name']} was not tried: it did not fit in the time budget."
    what = "1 candidate was" if n == 1 else f"{n} candidates were"
    return f"{left['name']}: {what} not tried for want of time."


def _cells(model: Mapping[str, Any], metric: str) -> list[Text]:
    time = Text(format_duration(model["timing"]["search_s"]))
    if model["status"] != "ok":
        return [Text(model["status"].replace("_", " ")), Text(""), time]
    cv, test = model["cv"], model["test"]["metrics"][metric]
    return [Text(format_mean_and_sd(cv["mean"], cv["sd"])), Text(format_number(test)), time]


def leaderboard_csv(facts: Mapping[str, Any]) -> str:
    """Write the leaderboard as CSV; text that looks like a formula gets a quote mark."""
    models = facts["models"]
    names = next((list(m["test"]["metrics"]) for m in models if m["test"]), [])
    header = ["rank", "model", "status", "metric", "cv_mean", "cv_sd"]
    header += [f"test_{name}" for name in names]
    labels = next((_labels(m) for m in models if m["test"]), [])
    header += [f"test_{name}[{visible_lines(label)}]" for label in labels for name in CLASS_SCORES]
    header += [f"test_{name}_macro" for name in CLASS_SCORES if labels and name != "f1"]
    header += ["fit_s", "search_s", "parameters", "note"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for rank, m in enumerate(models, start=1):
        cv, test = m["cv"] or {}, (m["test"] or {}).get("metrics", {})
        row = [rank, m["name"], m["status"], facts["study"]["metric"]]
        row += [cv.get("mean"), cv.get("sd"), *(test.get(name) for name in names)]
        row += _class_cells(m, len(labels))
        row += [m["timing"]["fit_s"], m["timing"]["search_s"], params_text(m)]
        row.append(m["error"] or m["note"])
        writer.writerow([csv_safe(cell) for cell in row])
    return out.getvalue()


def _labels(model: Mapping[str, Any]) -> list[str]:
    """Return the classes, in the order of their scores; empty in a regression."""
    return [each["label"] for each in model["test"]["per_class"] or []]


def _class_cells(model: Mapping[str, Any], n_classes: int) -> list[float | None]:
    """Return the scores of each class, and the macro means except F1, which is a metric."""
    if not model["test"]:
        return [None] * (len(CLASS_SCORES) * n_classes + (2 if n_classes else 0))
    scores = [each[name] for each in model["test"]["per_class"] or [] for name in CLASS_SCORES]
    macro = (model["test"]["averages"] or {}).get("macro", {})
    return [*scores, *(macro[name] for name in CLASS_SCORES if macro and name != "f1")]


def params_text(model: Mapping[str, Any]) -> str:
    """Format the chosen parameters, as in ``max_depth=5, min_samples_leaf=20``."""
    if model["best"] is None:
        return ""
    params = model["candidates"][model["best"]]["params"]
    return ", ".join(f"{k}={'none' if v is None else v}" for k, v in params.items())


def csv_safe(cell: Any) -> Any:
    r"""Make a cell of a CSV file safe: a spreadsheet must not run text as a formula.

    Text that begins like a formula gets a leading quote mark, and control characters are escaped
    (``\x1b``), except tabs and line ends, which are quoted. Numbers are unchanged.
    """
    if not isinstance(cell, str):
        return "" if cell is None else cell
    shown = visible_lines(cell)
    return f"'{shown}" if shown.startswith(_FORMULA_STARTS) else shown


def make_leaderboard_columns(facts: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of the leaderboard by name, a value for each model."""
    models, metric = facts["models"], facts["study"]["metric"]
    tests = [(model["test"] or {"metrics": {}})["metrics"] for model in models]
    columns: dict[str, list[Any]] = {
        "rank": list(range(1, len(models) + 1)),
        "model": [model["name"] for model in models],
        "key": [model["key"] for model in models],
        "status": [model["status"] for model in models],
        f"cv_{metric}": [(model["cv"] or {}).get("mean") for model in models],
        f"cv_{metric}_sd": [(model["cv"] or {}).get("sd") for model in models],
    }
    for name in dict.fromkeys([metric, *(name for test in tests for name in test)]):
        columns[f"test_{name}"] = [test.get(name) for test in tests]
    for name in ("fit_s", "predict_s", "search_s"):
        columns[name] = [model["timing"][name] for model in models]
    return columns


def make_leaderboard_frame(facts: Mapping[str, Any]) -> Any:
    """Return the leaderboard as a data frame, or as an Arrow table if pandas is not installed."""
    columns = make_leaderboard_columns(facts)
    try:
        return new_frame(columns)
    except ImportError:
        return pa.table(columns)


def plot_leaderboard(facts: Mapping[str, Any], ax: "Axes | None" = None) -> "Axes":
    """Draw the mean and the standard deviation of each model on the folds, and its test score."""
    metric, label = facts["study"]["metric"], facts["study"]["metric_label"]
    models = [model for model in facts["models"] if model["status"] == "ok"]
    means = [model["cv"]["mean"] for model in models]
    spreads = [model["cv"]["sd"] or 0.0 for model in models]
    ends = [[m + side * s for m, s in zip(means, spreads, strict=True)] for side in (-1, 1)]
    ax = draw_intervals(ax, [model["name"] for model in models], means, ends, label)
    tests = [(model["test"] or {"metrics": {}})["metrics"].get(metric) for model in models]
    shown = [np.nan if test is None else test for test in tests[: len(ax.get_yticks())]]
    ax.plot(shown, np.arange(len(shown)), "D", ms=4, mfc="none", label="test rows")
    ax.lines[0].set_label("folds, mean ± standard deviation")
    ax.legend(fontsize="small")
    return ax


def summarize_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table, the target and the best model by name, for a line of text."""
    study, models = facts["study"], facts["models"]
    summary = {"table": study["table"], "target": study["target"], "models": len(models)}
    best = next((model for model in models if model["status"] == "ok"), None)
    if best is not None:
        test = (best["test"] or {"metrics": {}})["metrics"]
        summary |= {"best": best["name"], f"test_{study['metric']}": test.get(study["metric"])}
    return summary


def summarize_html(facts: Mapping[str, Any], report: Path) -> str:
    """Return the best models and the caveats for a notebook, as HTML of less than 9 kB."""
    study = facts["study"]
    heads = ["", "Model", f"{study['metric_label']}, cross-validated", "on the test rows"]
    rows = [
        [rank, model["name"], *(cell.plain for cell in _cells(model, study["metric"])[:2])]
        for rank, model in enumerate(facts["models"][:_SUMMARIZED], 1)
    ]
    sentences = caveats(facts)
    rest = len(facts["models"]) - len(rows)
    if rest > 0:
        sentences.insert(0, f"{rest} more in leaderboard.")
    lines = [Markup("<div>{}</div>").format(_shorten(text)) for text in sentences]
    lines.append(Markup("<div>Report: <code>{}</code></div>").format(_shorten(str(report))))
    table = [_make_html_row("th", heads), *(_make_html_row("td", row) for row in rows)]
    return Markup("<table>{}</table>{}").format(Markup("").join(table), Markup("").join(lines))


def _make_html_row(tag: str, cells: Sequence[Any]) -> Markup:
    markup = Markup(f'<{tag} class="text">{{}}</{tag}>')
    return Markup("<tr>{}</tr>").format(
        Markup("").join(markup.format(_shorten(str(cell), 60)) for cell in cells)
    )


def _shorten(text: str, most: int = 400) -> str:
    shown = visible_lines(text).replace("\n", " ")
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
