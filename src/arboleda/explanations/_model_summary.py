"""The summary of a model page: quality, drivers, uncertainty and cautions."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, number_format, percent, plain
from arboleda.explanations._words import is_certain, write_calibration_caution
from arboleda.report._metrics import get_metric
from arboleda.report._summary import KeyFigure, Summary
from arboleda.report._words import format_count, join_names, quote_name, spell_count

__all__ = ["make_model_summary"]

_LOOSE = 0.8  # fidelity below which a surrogate does not represent the model


def make_model_summary(facts: Mapping[str, Any]) -> Summary:
    """Write the sentences, key figures and cautions of a model."""
    return Summary([*_write_sentences(facts)], [*_make_figures(facts)], [*_write_cautions(facts)])


def _format_score(facts: Mapping[str, Any], value: float | None) -> str:
    return number_format([value], get_metric(facts["study"]["metric"]).bounded)(value)


def _make_figures(facts: Mapping[str, Any]) -> Iterator[KeyFigure]:
    model, label = facts["model"], facts["study"]["metric_label"]
    interval, note = model["interval"], ""
    if interval["low"] is not None and interval["high"] is not None:
        level = percent(interval["level"], 0)
        low, high = (_format_score(facts, interval[end]) for end in ("low", "high"))
        note = f"{level} interval {low} to {high}"
    if model["baseline"] is not None:
        detail = _format_score(facts, model["baseline"]["test"])
        yield KeyFigure("Without any column", detail, "baseline, test rows")
    yield KeyFigure(f"{label}, test rows", _format_score(facts, model["test"]), note)
    result, coverage = facts["surrogate"], facts["promise"]
    if result is not None:
        value = max(0.0, result["fidelity"])
        detail = f"of its predictions with {integer(result['n_leaves'])} leaves"
        yield KeyFigure("As one tree", percent(value, 0), detail)
    if coverage is not None and coverage["sizes"] is not None:
        one = coverage["sizes"][1] / coverage["n_rows"]
        level = percent(coverage["level"], 0)
        yield KeyFigure(
            "One class in the set", percent(one, 0), f"of the test rows, at {level} coverage"
        )
    elif coverage is not None:
        level = percent(coverage["level"], 0)
        yield KeyFigure(f"{level} interval", plain(coverage["mean_width"], 3), "mean width")


def _write_sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    study, model = facts["study"], facts["model"]
    how = (
        f", the best of {spell_count(model['n_models'])} models,"
        if model["rank"] == 1 and model["n_models"] > 1
        else ""
    )
    yield (
        f"{model['name']}{how} predicts {quote_name(study['target'])} from "
        f"{format_count(len(facts['names']), 'column')}."
    )
    yield from _describe_drivers(facts)
    yield from _describe_surrogate(facts)


def _describe_drivers(facts: Mapping[str, Any]) -> Iterator[str]:
    result = facts["importance"]
    if result is None:
        return
    certain = [c for c in result["columns"] if is_certain(c)]
    leading = [quote_name(c["name"]) for c in certain or result["columns"] if c["value"] > 0][:3]
    if not leading:
        yield "No single column matters: shuffling any of them does not lower its score."
        return
    yield f"It relies most on {join_names(leading)}."
    idle = len(result["columns"]) - len(certain)
    if not certain:
        yield "With so few test rows, the ranking of the columns may be due to chance."
    elif idle and len(certain) > 3:
        verb = "does" if idle == 1 else "do"
        yield (
            f"{spell_count(len(certain)).capitalize()} columns matter by more than chance, "
            f"{spell_count(idle)} {verb} not."
        )


def _describe_surrogate(facts: Mapping[str, Any]) -> Iterator[str]:
    result = facts["surrogate"]
    if result is None or result["fidelity"] < _LOOSE:
        return
    share = percent(result["fidelity"], 0)
    if facts["study"]["labels"]:
        yield (
            f"A tree of {integer(result['n_leaves'])} leaves, drawn below, agrees with it on "
            f"{share} of the test rows."
        )
    else:
        yield (
            f"A tree of {integer(result['n_leaves'])} leaves, drawn below, explains {share} of the "
            "variance of its predictions."
        )


def _write_cautions(facts: Mapping[str, Any]) -> Iterator[str]:
    yield from write_calibration_caution(facts)
    yield from _describe_correlated(facts)
    result = facts["beyond"]
    if result["n_rows"]:
        yield (
            f"{format_count(result['n_rows'], 'test row')} of {integer(result['n_test'])} "
            f"{'has' if result['n_rows'] == 1 else 'have'} a value outside the range of the "
            f"training rows, most often in {quote_name(result['column'])}: "
            f"{_describe_extrapolation(facts)}"
        )
    result = facts["surrogate"]
    if result is not None and result["fidelity"] < _LOOSE:
        yield (
            "The drawn tree approximates the model only roughly: it is the best tree of its size, "
            "not a representation of the model."
        )


def _describe_correlated(facts: Mapping[str, Any]) -> Iterator[str]:
    pairs = facts["correlated"]
    if pairs:
        detail = [" with ".join(map(quote_name, pair["columns"])) for pair in pairs]
        least = plain(min(abs(pair["correlation"]) for pair in pairs), 2)
        yield (
            f"Strongly correlated columns (rank correlation of at least {least}) share their "
            f"importance, so each looks less important than both together: "
            f"{join_names(detail)}."
        )


def _describe_extrapolation(facts: Mapping[str, Any]) -> str:
    if facts["model"]["by_trees"]:
        return "there it predicts as at the edge of the training range."
    return "its predictions there are extrapolations."
