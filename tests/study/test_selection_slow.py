"""By simulation: on pure noise the naive score is above chance, ours is not; and all schemes."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from arboleda.study import Study
from arboleda.study.results.selection import find_disjoint_folds, select_honestly

SCHEMA = json.loads(files("arboleda.facts").joinpath("study.schema.json").read_text())
pytestmark = pytest.mark.slow

ROWS, COLUMNS, DRAWS = 100, 50, 400


def one_column_rules(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """For each column the rule that splits midway between the classes' means."""
    first, second = x[y == 0].mean(axis=0), x[y == 1].mean(axis=0)
    return ((new - (first + second) / 2) * np.sign(second - first) > 0).astype(int)


def simulate(n_folds: int, signal: float) -> np.ndarray:
    """Rows: naive, honest, corrected after Tibshirani and Tibshirani (2009), and true accuracy."""
    found = []
    for seed in range(DRAWS):
        draw = np.random.default_rng(seed)
        x = draw.normal(size=(ROWS + 4000, COLUMNS))
        noise = draw.normal(size=len(x))
        y = (signal * x[:, :3].sum(axis=1) + noise > 0).astype(int)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        parts = list(folds.split(x[:ROWS], y[:ROWS]))
        scores = np.array(
            [(one_column_rules(x[a], y[a], x[b]) == y[b][:, None]).mean(axis=0) for a, b in parts]
        ).T
        best = int(scores.mean(axis=1).argmax())
        ours = select_honestly(
            scores,
            np.arange(COLUMNS),
            find_disjoint_folds(parts, n_rows=ROWS),
            greater_is_better=True,
        )
        test = one_column_rules(x[:ROWS], y[:ROWS], x[ROWS:])[:, best]
        naive = scores[best].mean()
        tibshirani = naive - (scores.max(axis=0) - scores[best]).mean()
        found.append((naive, ours.scores.mean(), tibshirani, (test == y[ROWS:]).mean()))
    return np.array(found).T


@pytest.mark.parametrize("n_folds", [5, 10])
def test_our_estimate_corrects_the_best_of_noise(n_folds: int) -> None:
    naive, honest, _, _ = simulate(n_folds, 0.0)
    assert naive.mean() > 0.6
    error = honest.std() / np.sqrt(DRAWS)
    assert abs(honest.mean() - 0.5) < 0.01 + 3 * error
    assert honest.mean() - 0.5 < 0.15 * (naive.mean() - 0.5)


def test_the_other_correction_overcorrects_with_ten_folds() -> None:
    _, honest, tibshirani, _ = simulate(10, 0.0)
    assert tibshirani.mean() < 0.45 < honest.mean()


def test_the_estimate_is_nearly_unbiased_with_a_signal() -> None:
    naive, honest, _, true = simulate(5, 0.5)
    assert naive.mean() - true.mean() > 0.02
    assert abs(honest.mean() - true.mean()) < 0.02
    assert abs(honest.mean() - true.mean()) < 0.6 * (naive.mean() - true.mean())


@pytest.mark.parametrize(
    ("cv", "more", "honest", "tested"),
    [
        ("3x2", {}, 6, True),
        ("group:3", {"groups": "who"}, 3, True),
        ("time:4", {"time": "day"}, 3, False),
        ("loo", {}, None, False),
        ("bootstrap:10", {}, None, False),
    ],
)
def test_every_scheme_reports_its_estimate(
    cv: str, more: dict[str, str], honest: int | None, tested: bool, tmp_path: Any
) -> None:
    draw = np.random.default_rng(2)
    x = draw.normal(size=90)
    table = pd.DataFrame(
        {
            "x": x,
            "z": draw.normal(size=90),
            "who": [f"p{i}" for i in draw.integers(18, size=90)],
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(90), "D"),
            "y": np.where(x + draw.normal(size=90) > 0, "up", "down"),
        }
    )
    models = "lda,most_frequent"
    facts = Study(table, target="y", models=models, cv=cv, output_dir=tmp_path, **more).run().facts
    jsonschema.validate(facts, SCHEMA)
    found, rows = facts["selection"], facts["comparison"]["rows"]
    assert (found["honest"] is None) == (honest is None) == (found["why_not"] is not None)
    if honest is not None:
        assert len(found["honest"]["folds"]) == honest
    assert all((row["folds"] is not None) == tested for row in rows)
    assert all(row["test"] is not None for row in rows)
    if not tested:
        assert "not made" in facts["comparison"]["folds_note"]
