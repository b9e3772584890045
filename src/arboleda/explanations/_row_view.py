"""The page of one row: from its facts to what the template sets."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.explanations._changes_view import changes_axis, changes_view
from arboleda.explanations._figures import spread_plot
from arboleda.explanations._pushes_view import pushes_view
from arboleda.explanations._row_summary import row_summary
from arboleda.explanations._sure_words import row_is_sure
from arboleda.explanations._words import unusual_words, value_text
from arboleda.report._colours import class_colours
from arboleda.report._words import quoted

__all__ = ["row_view"]

_MOST_CLASSES = 12
_MOST_VALUES = 6  # of a neighbour that are shown beside those of the row


def row_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect everything the template of a row needs, drawn from the facts alone."""
    return {
        "row": integer(facts["row"]["number"]),
        "table": facts["study"]["table"],
        "target": facts["study"]["target"],
        "summary": row_summary(facts),
        "pushes": pushes_view(facts),
        "sure": _sure(facts),
        "changes": changes_view(facts),
        "axis": changes_axis(facts),
        "neighbours": _neighbours(facts),
        "values": _values(facts),
    }


def _sure(facts: Mapping[str, Any]) -> dict[str, Any]:
    prediction = facts["prediction"]
    return {
        "classes": _classes(facts),
        "n_others": max(0, len(prediction["probabilities"] or ()) - _MOST_CLASSES),
        "figure": _spread(facts),
        "sentences": [*row_is_sure(facts)],
        "truth": value_text(facts["row"]["truth"]),
    }


def _classes(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    told = facts["prediction"]["probabilities"]
    if told is None:
        return []
    labels = facts["study"]["labels"]
    colours = dict(
        zip(labels, class_colours(labels, facts["study"]["positive_class"]), strict=True)
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
        for row in told[:_MOST_CLASSES]
    ]


def _spread(facts: Mapping[str, Any]) -> Any:
    if facts["targets"] is None:
        return None
    interval = (facts["range"] or {}).get("interval")
    return spread_plot(
        facts["targets"],
        facts["study"]["target"],
        facts["prediction"]["answer"],
        None if interval is None else (interval[0], interval[1]),
        facts["row"]["truth"],
        "spread",
    )


def _neighbours(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    found = facts["neighbours"]
    if not found["rows"]:
        return None
    names = [column["name"] for column in facts["values"]]
    shown = [names.index(name) for name in _first_columns(facts)]
    return {
        "names": [names[j] for j in shown],
        "own": [value_text(facts["values"][j]["value"]) for j in shown],
        "answer": value_text(facts["prediction"]["answer"]),
        "rows": [
            {
                "row": integer(row["row"]),
                "proximity": percent(row["proximity"], 0),
                "bar": f"{100 * row['proximity']:.0f}",
                "target": value_text(row["target"]),
                "values": [
                    {
                        "text": value_text(row["values"][j]),
                        "same": row["values"][j] == facts["values"][j]["value"],
                    }
                    for j in shown
                ],
            }
            for row in found["rows"]
        ],
        "sentence": _near_sentence(facts),
        "how": _how_near(facts),
    }


def _first_columns(facts: Mapping[str, Any]) -> list[str]:
    """The columns that matter most for the row, else the first of the table."""
    if facts["pushes"] is not None:
        names = [column["name"] for column in facts["pushes"]["columns"]]
    else:
        names = [column["name"] for column in facts["values"]]
    return list(dict.fromkeys(names))[:_MOST_VALUES]


def _near_sentence(facts: Mapping[str, Any]) -> str:
    rows = facts["neighbours"]["rows"]
    targets = [row["target"] for row in rows]
    if facts["study"]["labels"]:
        answer = facts["prediction"]["answer"]
        same = sum(target == answer for target in targets)
        return (
            f"Of the {integer(len(rows))} training rows nearest to it, {integer(same)} "
            f"{'is' if same == 1 else 'are'} {quoted(str(answer))}, which is what the model says."
        )
    return (
        f"The {integer(len(rows))} training rows nearest to it have targets from "
        f"{plain(min(targets))} to {plain(max(targets))}, {plain(sum(targets) / len(targets))} in "
        f"the mean; the model says {plain(facts['prediction']['answer'])}."
    )


def _how_near(facts: Mapping[str, Any]) -> str:
    found = facts["neighbours"]
    part = "" if found["n_rows"] == found["n_training_rows"] else "a random part of "
    rows = f"{part}{integer(found['n_rows'])} training rows"
    if found["kind"] == "own":
        return (
            f"Near: the share of the model's {integer(found['n_trees'])} trees in which both rows "
            f"end in the same leaf. Looked for among {rows}."
        )
    measure = (
        f"gives the model's answer on {percent(found['agreement'])} of the test rows"
        if facts["study"]["labels"]
        else f"follows the model's answers with an R² of {plain(found['agreement'], 3)} on the "
        "test rows"
    )
    return (
        f"The model is no forest, so nearness is that of a forest of {integer(found['n_trees'])} "
        f"trees grown to give the model's answers (it {measure}): the share of its trees in which "
        f"both rows end in the same leaf. Looked for among {rows}."
    )


def _values(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": column["name"],
            "value": value_text(column["value"]),
            "usual": usual_text(column),
            "remark": unusual_words(column["remark"]),
        }
        for column in facts["values"]
    ]


def usual_text(column: Mapping[str, Any]) -> str:
    """Say what most training rows have in a column."""
    if column["usual"] is not None:
        usual = column["usual"]
        return f"{plain(usual['low'])} to {plain(usual['high'])}, median {plain(usual['median'])}"
    return ", ".join(
        f"{value_text(value)} {percent(share, 0)}" for value, share in column["common"] or []
    )
