"""The section on methods: the steps of the study and the meaning of the metrics."""

from collections.abc import Iterator
from typing import Any

from arboleda._numbers import integer, percent
from arboleda.report._metrics import get_metric
from arboleda.report._report_data import ReportData
from arboleda.report._schemes import describe_scheme
from arboleda.report._texts import text, translate

__all__ = ["make_method_view"]


def make_method_view(report: ReportData) -> dict[str, Any]:
    """Collect the section."""
    steps = [(text(f"method.{key}.title"), sentence) for key, sentence in _iter_steps(report)]
    return {"steps": steps, "metrics": _list_meanings(report)}


def _iter_steps(report: ReportData) -> Iterator[tuple[str, str]]:
    study, split = report.study, report.facts["split"]
    n_test, n_train = integer(split["n_test"]), integer(split["n_train"])
    share = split["n_test"] / ((split["n_test"] + split["n_train"]) or 1)
    kind = study.get("scheme", {}).get("test", "random")
    key = "stratified" if kind == "random" and split["classes"] is not None else kind
    yield "test", text(f"method.test.{key}", count=n_test, share=percent(share, 0), train=n_train)
    yield "folds", describe_scheme(study)
    yield "preparation", text("method.preparation.text")
    yield "tuning", text("method.tuning.text", metric=report.label)
    yield "refit", text("method.refit.text")
    if report.facts["calibration"] is not None:
        yield "calibration", text("method.calibration.text")
    if report.models:
        interval = report.best["test"]["interval"]
        level = f"{100 * interval['level']:g}\N{NO-BREAK SPACE}%"
        sentence = text("method.interval.text", level=level, method=translate(interval["method"]))
        yield "interval", sentence
    yield "seed", text("method.seed.text", seed=study["seed"])


def _list_meanings(report: ReportData) -> list[tuple[str, str]]:
    keys = dict.fromkeys(key for model in report.models for key in model["test"]["metrics"])
    if any(model["test"]["per_class"] for model in report.models):
        keys |= dict.fromkeys(["precision", "recall", "specificity", "f1"])
    if any(model["test"]["calibration"] for model in report.models):
        keys |= {"ece": None}
    result = [get_metric(key) for key in keys]
    return [(each.label, each.meaning) for each in result if each.meaning]
