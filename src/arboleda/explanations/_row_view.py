"""The values of the template of a row page."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.explanations._changes_view import describe_changes_axis, make_changes_view
from arboleda.explanations._contributions_view import make_contributions_view
from arboleda.explanations._figures import draw_spread_plot
from arboleda.explanations._row_summary import make_row_summary
from arboleda.explanations._uncertainty_view import describe_row_uncertainty
from arboleda.explanations._words import describe_remark, format_value
from arboleda.report._colours import choose_class_colours
from arboleda.report._words import quote_name

__all__ = ["make_row_view"]

_MOST_CLASSES = 12
_MOST_VALUES = 6  # columns shown per neighbour


def make_row_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the values of the template of a row page from the facts."""
    return {
        "row": integer(facts["row"]["number"]),
        "table": facts["study"]["table"],
        "target": facts["study"]["target"],
        "summary": make_row_summary(facts),
        "pushes": make_contributions_view(facts),
        "sure": _make_uncertainty(facts),
        "changes": make_changes_view(facts),
        "axis": describe_changes_axis(facts),
        "neighbours": _make_neighbours(facts),
        "values": _make_values(facts),
    }


def _make_uncertainty(facts: Mapping[str, Any]) -> dict[str, Any]:
    prediction = facts["prediction"]
    return {
        "classes": _make_classes(facts),
        "n_others": max(0, len(prediction["probabilities"] or ()) - _MOST_CLASSES),
        "figure": _draw_spread(facts),
        "sentences": [*describe_row_uncertainty(facts)],
        "truth": format_value(facts["row"]["truth"]),
    }


def _make_classes(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    probabilities = facts["prediction"]["probabilities"]
    if probabilities is None:
        return []
    labels = facts["study"]["labels"]
    colours = dict(
        zip(labels, choose_class_colours(labels, facts["study"]["positive_class"]), strict=True)
    )
    chosen = (facts["range"] or {}).get("set")
    return [
        {
            "label": row["label"],
            "colour": colours[row["label"]],
            "bar": f"{100 * row['probability']:.1f}",
            "probability": percent(row["probability"]),
            "share": percent(row["share"]),
            "inside": None if chosen is None else row["label"] in chosen,
            "true": row["label"] == facts["row"]["truth"],
        }
        for row in probabilities[:_MOST_CLASSES]
    ]


def _draw_spread(facts: Mapping[str, Any]) -> Any:
    if facts["targets"] is None:
        return None
    interval = (facts["range"] or {}).get("interval")
    return draw_spread_plot(
        facts["targets"],
        facts["study"]["target"],
        facts["prediction"]["answer"],
        None if interval is None else (interval[0], interval[1]),
        facts["row"]["truth"],
        "spread",
    )


def _make_neighbours(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    result = facts["neighbours"]
    if not result["rows"]:
        return None
    names = [column["name"] for column in facts["values"]]
    shown = [names.index(name) for name in _choose_columns(facts)]
    return {
        "names": [names[j] for j in shown],
        "own": [format_value(facts["values"][j]["value"]) for j in shown],
        "answer": format_value(facts["prediction"]["answer"]),
        "rows": [
            {
                "row": integer(row["row"]),
                "proximity": percent(row["proximity"], 0),
                "bar": f"{100 * row['proximity']:.0f}",
                "target": format_value(row["target"]),
                "values": [
                    {
                        "text": format_value(row["values"][j]),
                        "same": row["values"][j] == facts["values"][j]["value"],
                    }
                    for j in shown
                ],
            }
            for row in result["rows"]
        ],
        "sentence": _write_proximity_sentence(facts),
        "how": _describe_proximity(facts),
    }


def _choose_columns(facts: Mapping[str, Any]) -> list[str]:
    """Return the columns with the largest contributions, or the first of the table."""
    if facts["pushes"] is not None:
        names = [column["name"] for column in facts["pushes"]["columns"]]
    else:
        names = [column["name"] for column in facts["values"]]
    return list(dict.fromkeys(names))[:_MOST_VALUES]


def _write_proximity_sentence(facts: Mapping[str, Any]) -> str:
    rows = facts["neighbours"]["rows"]
    targets = [row["target"] for row in rows]
    if facts["study"]["labels"]:
        predicted = facts["prediction"]["answer"]
        same = sum(target == predicted for target in targets)
        return (
            f"Of the {integer(len(rows))} training rows nearest to it, {integer(same)} "
            f"{'is' if same == 1 else 'are'} {quote_name(str(predicted))}, the class "
            "that the model predicts."
        )
    return (
        f"The {integer(len(rows))} training rows nearest to it have targets from "
        f"{plain(min(targets))} to {plain(max(targets))}, {plain(sum(targets) / len(targets))} on "
        f"average; the model predicts {plain(facts['prediction']['answer'])}."
    )


def _describe_proximity(facts: Mapping[str, Any]) -> str:
    result = facts["neighbours"]
    part = "" if result["n_rows"] == result["n_training_rows"] else "a random part of "
    rows = f"{part}{integer(result['n_rows'])} training rows"
    if result["kind"] == "own":
        return (
            f"Proximity: the share of the {integer(result['n_trees'])} trees of the model in which "
            f"both rows fall into the same leaf, computed for {rows}."
        )
    measure = (
        f"agrees with the model on {percent(result['agreement'])} of the test rows"
        if facts["study"]["labels"]
        else f"reproduces the model with an R² of {plain(result['agreement'], 3)} on the test rows"
    )
    return (
        f"The model is not a forest. Proximity is that of a forest of {integer(result['n_trees'])} "
        f"trees fitted to the predictions of the model (it {measure}): the share of trees in which "
        f"both rows fall into the same leaf, computed for {rows}."
    )


def _make_values(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": column["name"],
            "value": format_value(column["value"]),
            "usual": format_usual(column),
            "remark": describe_remark(column["remark"]),
        }
        for column in facts["values"]
    ]


def format_usual(column: Mapping[str, Any]) -> str:
    """Format the usual values of a column in the training rows."""
    if column["usual"] is not None:
        usual = column["usual"]
        return f"{plain(usual['low'])} to {plain(usual['high'])}, median {plain(usual['median'])}"
    return ", ".join(
        f"{format_value(value)} {percent(share, 0)}" for value, share in column["common"] or []
    )
