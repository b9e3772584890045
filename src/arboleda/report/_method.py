"""How the study was done, step by step, and what the metrics mean."""

from collections.abc import Iterator
from typing import Any

from arboleda._numbers import integer, percent
from arboleda.report._about import About
from arboleda.report._metrics import metric
from arboleda.report._schemes import scheme_sentence
from arboleda.report._texts import text, told

__all__ = ["method_view"]


def method_view(about: About) -> dict[str, Any]:
    """Collect the section."""
    steps = [(text(f"method.{key}.title"), said) for key, said in _steps(about)]
    return {"steps": steps, "metrics": _meanings(about)}


def _steps(about: About) -> Iterator[tuple[str, str]]:
    study, split = about.study, about.facts["split"]
    n_test, n_train = integer(split["n_test"]), integer(split["n_train"])
    share = split["n_test"] / ((split["n_test"] + split["n_train"]) or 1)
    kind = study.get("scheme", {}).get("test", "random")
    key = "stratified" if kind == "random" and split["classes"] is not None else kind
    yield "test", text(f"method.test.{key}", count=n_test, share=percent(share, 0), train=n_train)
    yield "folds", scheme_sentence(study)
    yield "preparation", text("method.preparation.text")
    yield "tuning", text("method.tuning.text", metric=about.label)
    yield "refit", text("method.refit.text")
    if about.facts["calibration"] is not None:
        yield "calibration", text("method.calibration.text")
    if about.models:
        interval = about.best["test"]["interval"]
        level = f"{100 * interval['level']:g}\N{NO-BREAK SPACE}%"
        said = text("method.interval.text", level=level, method=told(interval["method"]))
        yield "interval", said
    yield "seed", text("method.seed.text", seed=study["seed"])


def _meanings(about: About) -> list[tuple[str, str]]:
    keys = dict.fromkeys(key for model in about.models for key in model["test"]["metrics"])
    if any(model["test"]["per_class"] for model in about.models):
        keys |= dict.fromkeys(["precision", "recall", "specificity", "f1"])
    if any(model["test"]["calibration"] for model in about.models):
        keys |= {"ece": None}
    found = [metric(key) for key in keys]
    return [(each.label, each.meaning) for each in found if each.meaning]
