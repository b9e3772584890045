"""The page of one row in plain words: what the model says, how sure, why, what to mind."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.explanations._words import (
    calibration_caution,
    how_sure,
    named,
    unusual_words,
    value_text,
)
from arboleda.report._summary import KeyFigure, Summary
from arboleda.report._words import counted, listed, quoted

__all__ = ["row_summary"]

_WEAK_LIME = 0.5
_FAR = 0.1


def row_summary(facts: Mapping[str, Any]) -> Summary:
    """Write sentences, key figures and cautions drawn from the facts alone."""
    return Summary([*_sentences(facts)], [*_figures(facts)], [*_cautions(facts)])


def _figures(facts: Mapping[str, Any]) -> Iterator[KeyFigure]:
    said, truth = facts["prediction"], facts["row"]["truth"]
    answer = value_text(said["answer"])
    if said["probabilities"] is not None:
        chance = _chance(facts)
        yield KeyFigure("The model says", answer, "")
        yield KeyFigure(
            "Probability",
            percent(chance["probability"], 0),
            f"{percent(chance['share'], 0)} of the training rows are of that class",
        )
    else:
        yield KeyFigure("The model says", answer, _beside_mean(facts))
        found = facts["range"]
        if found is not None and found["interval"] is not None:
            low, high = map(plain, found["interval"])
            level = percent(found["level"], 0)
            yield KeyFigure(f"{level} interval", f"{low} to {high}", "where the truth should lie")
    yield KeyFigure("The table says", value_text(truth), _verdict(facts))


def _chance(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    said = facts["prediction"]
    return next(row for row in said["probabilities"] if row["label"] == said["answer"])


def _beside_mean(facts: Mapping[str, Any]) -> str:
    mean = facts["prediction"]["mean"]
    return "" if mean is None else f"the mean of the training rows is {plain(mean)}"


def _verdict(facts: Mapping[str, Any]) -> str:
    answer, truth = facts["prediction"]["answer"], facts["row"]["truth"]
    if facts["study"]["labels"] is not None:
        return "the model is right" if answer == truth else "the model is wrong"
    return f"the model is off by {plain(abs(answer - truth))}"


def _sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    said, study = facts["prediction"], facts["study"]
    model, answer = facts["model"]["name"], quoted(value_text(said["answer"]))
    if said["probabilities"] is not None:
        chance = _chance(facts)
        yield (
            f"{model} {how_sure(chance['probability'])}: it gives {answer} a probability of "
            f"{percent(chance['probability'], 0)}."
        )
    elif study["labels"] is not None:
        yield f"{model} says {answer}; it gives no probabilities."
    else:
        side = "above" if said["answer"] >= said["mean"] else "below"
        yield (
            f"{model} predicts {plain(said['answer'])} for {quoted(study['target'])}, {side} the "
            f"mean of the training rows ({plain(said['mean'])})."
        )
    yield from _about_range(facts)
    yield from _about_pushes(facts)


def _about_range(facts: Mapping[str, Any]) -> Iterator[str]:
    found = facts["range"]
    if found is None or found["set"] is None:
        return
    level, n = percent(found["level"], 0), len(found["set"])
    if n == 1:
        yield f"At {level} certainty no other class is left."
    elif n:
        others = [quoted(label) for label in found["set"] if label != facts["prediction"]["answer"]]
        if others:
            yield f"At {level} certainty {listed(others)} cannot be ruled out."


def _about_pushes(facts: Mapping[str, Any]) -> Iterator[str]:
    found = facts["pushes"]
    if found is None:
        return
    # Of several conditions on one column the first, the strongest, is told.
    columns = list({column["name"]: column for column in reversed(found["columns"])}.values())[::-1]
    towards = [column for column in columns if column["push"] > 0]
    away = [column for column in columns if column["push"] < 0]
    up, down = (
        ("most for it", "most against it")
        if found["output"] is not None
        else ("it up most", "it down most")
    )
    verb = ("Speaking", "speaking") if found["output"] is not None else ("Pushing", "pushing")
    if towards and away:
        yield f"{verb[0]} {up}: {named(towards)}; {verb[1]} {down}: {named(away, 2)}."
    elif towards or away:
        some, way = (towards, up) if towards else (away, down)
        yield f"{verb[0]} {way}: {named(some)}."


def _cautions(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["row"]["part"] == "train":
        yield (
            "The model learned from this row, target included: it will seem surer and more right "
            f"than on rows it has not seen. {_other_rows(facts)}"
        )
    beyond = [c for c in facts["values"] if c["remark"] in ("below_all", "above_all", "unseen")]
    for column in beyond[:3]:
        yield (
            f"{quoted(column['name'])} is {value_text(column['value'])}, "
            f"{unusual_words(column['remark'])}: what the model says there is a guess."
        )
    if beyond[3:]:
        yield f"{counted(len(beyond) - 3, 'more column')} have values that no training row has."
    near = facts["neighbours"]["rows"]
    if not near or near[0]["proximity"] < _FAR:
        yield "No training row is near this one: there is little to judge it by."
    pushes = facts["pushes"]
    if pushes is not None and pushes["method"] == "lime" and pushes["fidelity"] < _WEAK_LIME:
        yield (
            "The simple model behind the pushes follows this model loosely here: take the order "
            "of the columns as a hint."
        )
    yield from calibration_caution(facts)


def _other_rows(facts: Mapping[str, Any]) -> str:
    rows = facts["row"]["near_test_rows"]
    if not rows:
        return "Prefer a row of the test set."
    return f"Test rows that are most like it: {listed([integer(row) for row in rows], 5)}."
