"""How columns go with each other and with the target."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from arboleda.explore._matrix import CodedColumns, code_columns
from arboleda.explore._subject import Goal, Subject
from arboleda.features import mutual_information

__all__ = ["correlations", "describe_relations", "target_relations"]

Floats = npt.NDArray[np.float64]

CELLS = 20_000_000  # of the table that are looked at; more rows are sampled
BINS = 10
MATRIX = 20  # columns in the matrix of correlations
PAIRS = 15
MOST_COLUMNS = 2000  # whose correlations are looked at; they grow with the square
_STREAM = 1


def describe_relations(subject: Subject) -> dict[str, Any] | None:
    """Correlations among the columns that hold quantities; None with fewer than two of them."""
    rows = _rows(subject)
    coded = code_columns(subject, rows)
    places = _quantities(coded)
    if len(places) < 2 or len(rows) < 3:
        return None
    n_columns, places = len(places), places[:MOST_COLUMNS]
    names = [coded.names[j] for j in places]
    r = correlations(coded.x[:, places])
    strength = np.nan_to_num(np.abs(r))
    np.fill_diagonal(strength, 0.0)
    shown = _in_groups(r, np.sort(np.argsort(-strength.max(axis=0), kind="stable")[:MATRIX]))
    return {
        "n_rows": len(rows),
        "n_columns": n_columns,
        "n_compared": len(names),
        "partners": _partners(names, r, strength),
        "pairs": _strongest(names, r, strength),
        "matrix": {
            "columns": [names[j] for j in shown],
            "values": [[_number(r[i, j]) for j in shown] for i in shown],
        },
    }


def _rows(subject: Subject) -> npt.NDArray[np.int64]:
    return subject.sample(max(1000, CELLS // max(1, len(subject.features))), _STREAM)


def _quantities(coded: CodedColumns) -> list[int]:
    categorical = set(coded.categorical)
    return [j for j in range(len(coded.names)) if j not in categorical]


def correlations(x: Floats) -> Floats:
    """Pearson's correlation of every two columns over the rows in which both have a value.

    NaN where one of them is constant there.
    """
    present = ~np.isnan(x)
    mask = present.astype(np.float64)
    z = np.where(present, _standardised(x), 0.0)
    n = mask.T @ mask
    with np.errstate(invalid="ignore", divide="ignore"):
        # Sums of one column over the rows in which the other has a value, too.
        sums, squares = z.T @ mask, (z**2).T @ mask
        covariance = z.T @ z / n - (sums / n) * (sums.T / n)
        variance = squares / n - (sums / n) ** 2
        variance[variance < 1e-12] = np.nan
        r: Floats = covariance / np.sqrt(variance * variance.T)
    return np.clip(r, -1.0, 1.0)


def _standardised(x: Floats) -> Floats:
    """Columns of mean 0 and variance 1, which keeps the sums of products exact enough."""
    size = np.max(np.abs(x), axis=0, initial=0.0, where=~np.isnan(x))
    scaled = x / np.where(size > 0, size, 1.0)
    n = np.maximum(1, (~np.isnan(x)).sum(axis=0))
    centred = scaled - np.nansum(scaled, axis=0) / n
    spread = np.sqrt(np.nansum(centred**2, axis=0) / n)
    standardised: Floats = centred / np.where(spread > 0, spread, 1.0)
    return standardised


def _in_groups(r: Floats, chosen: npt.NDArray[np.int64]) -> list[int]:
    """The columns in an order that puts those beside each other that go together."""
    if len(chosen) < 3:
        return [int(j) for j in chosen]
    distance = 1.0 - np.nan_to_num(np.abs(r[np.ix_(chosen, chosen)]))
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform((distance + distance.T) / 2), "average", optimal_ordering=True)
    return [int(chosen[leaf]) for leaf in leaves_list(tree)]


def _partners(names: list[str], r: Floats, strength: Floats) -> list[dict[str, Any]]:
    """For each column the one it goes with most."""
    best = strength.argmax(axis=1)
    return [
        {"name": name, "partner": names[k], "correlation": float(r[j, k])}
        for j, (name, k) in enumerate(zip(names, best.tolist(), strict=True))
        if strength[j, k] > 0
    ]


def _strongest(names: list[str], r: Floats, strength: Floats) -> list[dict[str, Any]]:
    upper = np.triu(strength, 1)
    order = np.argsort(-upper, axis=None, kind="stable")[:PAIRS]
    pairs = [divmod(int(k), len(names)) for k in order if upper.flat[k] > 0]
    return [{"columns": [names[i], names[j]], "correlation": float(r[i, j])} for i, j in pairs]


def target_relations(subject: Subject, goal: Goal) -> dict[str, Any] | None:
    """Correlation and mutual information of every feature with the target; None without features.

    The correlation is Pearson's over the rows that have both values; of two classes the positive
    one counts as 1, the other as 0; there is none with several classes or of categories. Mutual
    information is `arboleda.features.mutual_information` with ten bins, and ``share`` what part it
    is of the target's entropy (of its ten bins, for a quantity).
    """
    rows = _rows(subject)
    rows = rows[goal.known[rows]]
    if not subject.features or len(rows) < 3:
        return None
    coded = code_columns(subject, rows)
    y = goal.y[rows]
    information = _information(coded, y, goal)
    entropy = _entropy(y, bool(goal.labels))
    r = np.full(len(coded.names), np.nan)
    if goal.task != "multiclass":
        for j in _quantities(coded):
            both = ~np.isnan(coded.x[:, j])
            r[j] = correlations(np.column_stack([coded.x[both, j], y[both]]))[0, 1]
    order = np.argsort(-information, kind="stable")
    return {
        "n_rows": len(rows),
        "entropy": entropy,
        "columns": [
            {
                "name": coded.names[j],
                "correlation": _number(r[j]),
                "information": float(information[j]),
                "share": float(min(1.0, information[j] / entropy)) if entropy > 0 else 0.0,
            }
            for j in order
        ],
    }


def _information(coded: CodedColumns, y: Floats, goal: Goal) -> Floats:
    return mutual_information(
        coded.x,
        y.astype(np.int64) if goal.labels else y,
        task="classification" if goal.labels else "regression",
        categorical_features=list(coded.categorical) or None,
        n_bins=BINS,
    )


def _entropy(y: Floats, classes: bool) -> float:
    """Entropy of the classes, or of as many equally full bins, in nats."""
    if not classes:
        return float(np.log(min(BINS, len(np.unique(y)))))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return float(-(shares * np.log(shares)).sum())


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
