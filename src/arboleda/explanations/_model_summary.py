"""The page of a model in plain words: how good it is, what drives it, how sure, what to mind."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, number_format, percent, plain
from arboleda.explanations._words import calibration_caution, is_certain
from arboleda.report._metrics import metric
from arboleda.report._summary import KeyFigure, Summary
from arboleda.report._words import count_word, counted, listed, quoted

__all__ = ["model_summary"]

_LOOSE = 0.8  # fidelity below which a surrogate is no picture of the model


def model_summary(facts: Mapping[str, Any]) -> Summary:
    """Write sentences, key figures and cautions drawn from the facts alone."""
    return Summary([*_sentences(facts)], [*_figures(facts)], [*_cautions(facts)])


def _score(facts: Mapping[str, Any], value: float | None) -> str:
    return number_format([value], metric(facts["study"]["metric"]).bounded)(value)


def _figures(facts: Mapping[str, Any]) -> Iterator[KeyFigure]:
    model, label = facts["model"], facts["study"]["metric_label"]
    interval, note = model["interval"], ""
    if interval["low"] is not None and interval["high"] is not None:
        level = percent(interval["level"], 0)
        low, high = (_score(facts, interval[end]) for end in ("low", "high"))
        note = f"{level} interval {low} to {high}"
    if model["baseline"] is not None:
        told = _score(facts, model["baseline"]["test"])
        yield KeyFigure("Without any column", told, "the baseline, test rows")
    yield KeyFigure(f"{label}, test rows", _score(facts, model["test"]), note)
    found, promise = facts["surrogate"], facts["promise"]
    if found is not None:
        value = max(0.0, found["fidelity"])
        told = f"of its answers by {integer(found['n_leaves'])} leaves"
        yield KeyFigure("As one tree", percent(value, 0), told)
    if promise is not None and promise["sizes"] is not None:
        one = promise["sizes"][1] / promise["n_rows"]
        level = percent(promise["level"], 0)
        yield KeyFigure(
            "One class left", percent(one, 0), f"of the test rows, at {level} certainty"
        )
    elif promise is not None:
        level = percent(promise["level"], 0)
        yield KeyFigure(f"{level} interval", plain(promise["mean_width"], 3), "wide in the mean")


def _sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    study, model = facts["study"], facts["model"]
    how = (
        f", the best of {count_word(model['n_models'])} models,"
        if model["rank"] == 1 and model["n_models"] > 1
        else ""
    )
    yield (
        f"{model['name']}{how} tells {quoted(study['target'])} from "
        f"{counted(len(facts['names']), 'column')}."
    )
    yield from _about_drivers(facts)
    yield from _about_surrogate(facts)


def _about_drivers(facts: Mapping[str, Any]) -> Iterator[str]:
    found = facts["importance"]
    if found is None:
        return
    certain = [c for c in found["columns"] if is_certain(c)]
    leading = [quoted(c["name"]) for c in certain or found["columns"] if c["value"] > 0][:3]
    if not leading:
        yield "No column on its own matters to it: each can be shuffled without harm."
        return
    yield f"It leans most on {listed(leading)}."
    idle = len(found["columns"]) - len(certain)
    if not certain:
        yield "On so few test rows chance could have ranked the columns otherwise."
    elif idle and len(certain) > 3:
        verb = "does" if idle == 1 else "do"
        yield (
            f"{count_word(len(certain)).capitalize()} columns matter to it by more than chance, "
            f"{count_word(idle)} {verb} not."
        )


def _about_surrogate(facts: Mapping[str, Any]) -> Iterator[str]:
    found = facts["surrogate"]
    if found is None or found["fidelity"] < _LOOSE:
        return
    share = percent(found["fidelity"], 0)
    if facts["study"]["labels"]:
        yield (
            f"A tree of {integer(found['n_leaves'])} leaves, drawn below, agrees with it on "
            f"{share} of the test rows."
        )
    else:
        yield (
            f"A tree of {integer(found['n_leaves'])} leaves, drawn below, tells {share} of how its "
            "answers vary."
        )


def _cautions(facts: Mapping[str, Any]) -> Iterator[str]:
    yield from calibration_caution(facts)
    yield from _about_correlated(facts)
    found = facts["beyond"]
    if found["n_rows"]:
        yield (
            f"{counted(found['n_rows'], 'test row')} of {integer(found['n_test'])} "
            f"{'has' if found['n_rows'] == 1 else 'have'} a value that no training row reaches, "
            f"most often in {quoted(found['column'])}: {_extrapolation(facts)}"
        )
    found = facts["surrogate"]
    if found is not None and found["fidelity"] < _LOOSE:
        yield (
            "The drawn tree follows the model loosely: it is the best tree of its size, not a "
            "picture of the model."
        )


def _about_correlated(facts: Mapping[str, Any]) -> Iterator[str]:
    pairs = facts["correlated"]
    if pairs:
        told = [" with ".join(map(quoted, pair["columns"])) for pair in pairs]
        least = plain(min(abs(pair["correlation"]) for pair in pairs), 2)
        yield (
            f"Columns that go together (rank correlation {least} and more) stand in for each "
            f"other, so that each looks less important than both are: {listed(told)}."
        )


def _extrapolation(facts: Mapping[str, Any]) -> str:
    if facts["model"]["by_trees"]:
        return "there it answers as at the edge of what it has seen."
    return "what it says there is a guess."
