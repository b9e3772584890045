"""The values of a row compared with those of the training rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.study.results.explained_model import ExplainedModel

__all__ = ["describe_values"]

# A value is unusual if a smaller share of the training rows has it.
UNUSUAL = 0.05
COMMON = 3  # number of usual categories listed


def describe_values(subject: ExplainedModel, row: npt.NDArray[np.float64]) -> list[dict[str, Any]]:
    """Describe the value of each column and whether it is unusual in the training rows.

    Parameters
    ----------
    subject : ExplainedModel
    row : array of shape (n_columns,)
        A row of the matrix.
    """
    seen = subject.train.x
    return [
        _describe_number(subject, j, row[j], seen[:, j])
        if subject.kind(j) == "numeric"
        else _describe_category(subject, j, row[j], seen[:, j])
        for j in range(len(subject.names))
    ]


def _describe_number(
    subject: ExplainedModel, j: int, value: float, column: npt.NDArray[np.float64]
) -> dict[str, Any]:
    present = column[~np.isnan(column)]
    result: dict[str, Any] = {
        "name": subject.names[j],
        "kind": "numeric",
        "value": subject.text(j, value),
        "usual": None,
        "common": None,
        "share": None,
        "below": None,
        "above": None,
        "remark": None,
    }
    if present.size:
        low, median, high = np.quantile(present, [0.1, 0.5, 0.9])
        result["usual"] = {"low": float(low), "median": float(median), "high": float(high)}
    if np.isnan(value):
        share = 1 - present.size / len(column)
        result |= {"share": share, "remark": "missing" if share < UNUSUAL else None}
    elif present.size:
        below, above = float(np.mean(present < value)), float(np.mean(present > value))
        result |= {
            "below": below,
            "above": above,
            "remark": _get_remark(value, present, below, above),
        }
    return result


def _get_remark(
    value: float, present: npt.NDArray[np.float64], below: float, above: float
) -> str | None:
    if value < present.min():
        return "below_all"
    if value > present.max():
        return "above_all"
    if 1 - above <= UNUSUAL:
        return "low"
    return "high" if 1 - below <= UNUSUAL else None


def _describe_category(
    subject: ExplainedModel, j: int, value: float, column: npt.NDArray[np.float64]
) -> dict[str, Any]:
    # Missing Boolean values become a code, to be counted like the others.
    codes, own = np.nan_to_num(column, nan=-1.0), float(np.nan_to_num(value, nan=-1.0))
    distinct, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:COMMON]
    share = float(np.mean(codes == own))
    return {
        "name": subject.names[j],
        "kind": subject.kind(j),
        "value": subject.text(j, value),
        "usual": None,
        "common": [
            [subject.text(j, _decode(subject, j, distinct[i])), float(counts[i] / len(codes))]
            for i in order
        ],
        "share": share,
        "below": None,
        "above": None,
        "remark": "unseen" if share == 0 else "rare" if share < UNUSUAL else None,
    }


def _decode(subject: ExplainedModel, j: int, code: float) -> float:
    return np.nan if code < 0 and subject.kind(j) == "boolean" else code
