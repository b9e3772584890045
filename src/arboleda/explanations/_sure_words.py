"""How sure the model is, in sentences: of one row, and of all test rows."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.explanations._words import value_text
from arboleda.report._words import counted, listed, quoted

__all__ = ["model_is_sure", "row_is_sure"]


def row_is_sure(facts: Mapping[str, Any]) -> Iterator[str]:
    """Say what is promised of a row's truth, and how good the model was on rows like it."""
    if facts["study"]["labels"] is not None and not facts["model"]["probabilities"]:
        yield "The model names a class without telling how probable it is."
    yield from _range(facts)
    yield from _similar(facts)
    errors = facts["prediction"]["errors"]
    if errors is not None:
        yield (
            f"On {counted(errors['n_rows'], 'test row')} it was off by less than "
            f"{plain(errors['median'])} for half of them, and by less than {plain(errors['most'])} "
            "for nine of ten."
        )


def _range(facts: Mapping[str, Any]) -> Iterator[str]:
    found = facts["range"]
    if found is None:
        return
    level = percent(found["level"], 0)
    judged = f"measured on {counted(found['n_rows'], 'test row')} that the model has not seen"
    if found["interval"] is not None:
        low, high = map(plain, found["interval"])
        yield f"The true value lies between {low} and {high} in {level} of such cases ({judged})."
        return
    names = [quoted(label) for label in found["set"]]
    if not names:
        yield (
            f"No class is probable enough for the {level} set: the row is unlike those that the "
            f"model knows ({judged})."
        )
    elif len(names) == 1:
        yield f"To be right in {level} of cases, naming {names[0]} alone is enough here ({judged})."
    else:
        yield (
            f"To be right in {level} of cases, the model must leave {len(names)} classes open: "
            f"{listed(names, 8)} ({judged})."
        )


def _similar(facts: Mapping[str, Any]) -> Iterator[str]:
    found = facts["prediction"]["similar"]
    if found is None:
        return
    answer = quoted(value_text(facts["prediction"]["answer"]))
    sure = ""
    if found["low"] is not None:
        low, high = percent(found["low"], 0), percent(found["high"], 0)
        at = f"at about {low}" if low == high else f"at {low} to {high}"
        sure = f", and about as surely ({at})"
    yield (
        f"Of the {integer(found['n_rows'])} test rows that it also gave {answer}{sure}, "
        f"{integer(found['n_right'])} were of that class: "
        f"{percent(found['n_right'] / found['n_rows'], 0)}."
    )


def model_is_sure(facts: Mapping[str, Any]) -> Iterator[str]:
    """Say whether probabilities can be trusted, and whether sets or intervals keep their word."""
    if facts["study"]["labels"] is not None:
        yield _of_probabilities(facts)
    found = facts["promise"]
    if found is None:
        return
    level, held = percent(found["level"], 0), percent(found["coverage"])
    rows = counted(found["n_rows"], "test row")
    if found["sizes"] is not None:
        yield (
            f"Sets of classes that should hold the truth in {level} of cases held it for {held} of "
            f"{rows}; {percent(found['sizes'][1] / found['n_rows'], 0)} of them name one class "
            f"alone, {plain(found['mean_size'], 3)} in the mean."
        )
    else:
        yield (
            f"Intervals that should hold the truth in {level} of cases held it for {held} of "
            f"{rows}. They are {plain(found['mean_width'])} wide in the mean; eight in ten targets "
            f"lie within {plain(found['target_width'])}."
        )


def _of_probabilities(facts: Mapping[str, Any]) -> str:
    found = facts["model"]["calibration"]
    if found is None:
        return "The model names a class without telling how probable it is."
    gap, chance = percent(found["error"]), percent(found["largest_by_chance"])
    if found["error"] > found["largest_by_chance"]:
        return (
            f"Its probabilities are off by {gap} on average, more than chance explains ({chance}): "
            "they are a rough scale."
        )
    return (
        f"Its probabilities can be taken at their word: over the test rows they are off by {gap} "
        f"on average, no more than chance explains ({chance})."
    )
