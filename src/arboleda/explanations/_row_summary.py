"""The summary of a row page: prediction, uncertainty, contributions and cautions."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.explanations._words import (
    describe_confidence,
    describe_remark,
    format_columns,
    format_value,
    write_calibration_caution,
)
from arboleda.report._summary import KeyFigure, Summary
from arboleda.report._words import format_count, join_names, quote_name

__all__ = ["make_row_summary"]

_WEAK_LIME = 0.5
_FAR = 0.1


def make_row_summary(facts: Mapping[str, Any]) -> Summary:
    """Write the sentences, key figures and cautions of a row."""
    return Summary([*_write_sentences(facts)], [*_make_figures(facts)], [*_write_cautions(facts)])


def _make_figures(facts: Mapping[str, Any]) -> Iterator[KeyFigure]:
    prediction, truth = facts["prediction"], facts["row"]["truth"]
    predicted = format_value(prediction["answer"])
    if prediction["probabilities"] is not None:
        chance = _get_probability(facts)
        yield KeyFigure("Prediction", predicted, "")
        yield KeyFigure(
            "Probability",
            percent(chance["probability"], 0),
            f"{percent(chance['share'], 0)} of the training rows have this class",
        )
    else:
        yield KeyFigure("Prediction", predicted, _compare_with_mean(facts))
        result = facts["range"]
        if result is not None and result["interval"] is not None:
            low, high = map(plain, result["interval"])
            level = percent(result["level"], 0)
            yield KeyFigure(
                f"{level} interval", f"{low} to {high}", "expected to contain the truth"
            )
    yield KeyFigure("True value", format_value(truth), _compare_with_truth(facts))


def _get_probability(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    prediction = facts["prediction"]
    return next(row for row in prediction["probabilities"] if row["label"] == prediction["answer"])


def _compare_with_mean(facts: Mapping[str, Any]) -> str:
    mean = facts["prediction"]["mean"]
    return "" if mean is None else f"the mean of the training rows is {plain(mean)}"


def _compare_with_truth(facts: Mapping[str, Any]) -> str:
    predicted, truth = facts["prediction"]["answer"], facts["row"]["truth"]
    if facts["study"]["labels"] is not None:
        return "the model is right" if predicted == truth else "the model is wrong"
    return f"the model is off by {plain(abs(predicted - truth))}"


def _write_sentences(facts: Mapping[str, Any]) -> Iterator[str]:
    prediction, study = facts["prediction"], facts["study"]
    model, predicted = facts["model"]["name"], quote_name(format_value(prediction["answer"]))
    if prediction["probabilities"] is not None:
        chance = _get_probability(facts)
        yield (
            f"{model} {describe_confidence(chance['probability'])}: it predicts {predicted} with a "
            f"probability of {percent(chance['probability'], 0)}."
        )
    elif study["labels"] is not None:
        yield f"{model} predicts {predicted}, without probabilities."
    else:
        side = "above" if prediction["answer"] >= prediction["mean"] else "below"
        yield (
            f"{model} predicts {plain(prediction['answer'])} for {quote_name(study['target'])}, "
            f"{side} the mean of the training rows ({plain(prediction['mean'])})."
        )
    yield from _describe_range(facts)
    yield from _describe_contributions(facts)


def _describe_range(facts: Mapping[str, Any]) -> Iterator[str]:
    result = facts["range"]
    if result is None or result["set"] is None:
        return
    level, n = percent(result["level"], 0), len(result["set"])
    if n == 1:
        yield f"The {level} prediction set contains no other class."
    elif n:
        others = [
            quote_name(label) for label in result["set"] if label != facts["prediction"]["answer"]
        ]
        if others:
            yield f"The {level} prediction set also contains {join_names(others)}."


def _describe_contributions(facts: Mapping[str, Any]) -> Iterator[str]:
    result = facts["pushes"]
    if result is None:
        return
    # Of several conditions on one column, keep the first, which is the strongest.
    columns = list({column["name"]: column for column in reversed(result["columns"])}.values())[
        ::-1
    ]
    towards = [column for column in columns if column["push"] > 0]
    away = [column for column in columns if column["push"] < 0]
    up, down = (
        ("The main evidence for it", "the main evidence against it")
        if result["output"] is not None
        else ("It is raised most by", "it is lowered most by")
    )
    if towards and away:
        yield f"{up}: {format_columns(towards)}; {down}: {format_columns(away, 2)}."
    elif towards or away:
        some, way = (towards, up) if towards else (away, down)
        yield f"{way[0].upper()}{way[1:]}: {format_columns(some)}."


def _write_cautions(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["row"]["part"] == "train":
        yield (
            "The model was fitted on this row, including its target: it seems more confident and "
            f"more accurate than on unseen rows. {_suggest_rows(facts)}"
        )
    beyond = [c for c in facts["values"] if c["remark"] in ("below_all", "above_all", "unseen")]
    for column in beyond[:3]:
        yield (
            f"{quote_name(column['name'])} is {format_value(column['value'])}, "
            f"{describe_remark(column['remark'])}: the prediction is an extrapolation."
        )
    if beyond[3:]:
        more = format_count(len(beyond) - 3, "more column")
        yield f"{more} have values that no training row has."
    near = facts["neighbours"]["rows"]
    if not near or near[0]["proximity"] < _FAR:
        yield "No training row is similar to this one: the prediction has little support."
    contributions = facts["pushes"]
    if (
        contributions is not None
        and contributions["method"] == "lime"
        and contributions["fidelity"] < _WEAK_LIME
    ):
        yield (
            "The simple model behind the contributions approximates this model only roughly here: "
            "treat the order of the columns as a hint."
        )
    yield from write_calibration_caution(facts)


def _suggest_rows(facts: Mapping[str, Any]) -> str:
    rows = facts["row"]["near_test_rows"]
    if not rows:
        return "Prefer a row of the test set."
    return f"The most similar test rows: {join_names([integer(row) for row in rows], 5)}."
