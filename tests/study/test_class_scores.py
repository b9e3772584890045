"""Precision, recall and F1 of each class, all models side by side, in leaderboard.csv."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arboleda.study import Study

pytestmark = pytest.mark.usefixtures("undrawn")

LABELS = ["=1+1", 'a, "b"]', "c\nd"]


def test_scores_of_each_class_match_the_confusion_matrix(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=150)
    y = np.array(LABELS)[np.digitize(x + draw.normal(0, 0.5, 150), [-0.6, 0.6])]
    frame = pd.DataFrame({"x": x, "z": draw.normal(size=150), "y": y})
    facts = (
        Study(frame, target="y", output_dir=tmp_path, models="cart,lda,most_frequent").run().facts
    )
    with (tmp_path / "leaderboard.csv").open(newline="") as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    assert {len(row) for row in rows.values()} == {len(next(iter(rows.values())))}
    assert len(rows) > 3  # combinations have them, too
    for model in facts["models"]:
        row, confusion = rows[model["name"]], np.array(model["test"]["confusion"]["counts"])
        assert model["test"]["confusion"]["labels"] == LABELS
        recalls, precisions = [], []
        for k, label in enumerate(LABELS):
            given, there, hit = confusion[:, k].sum(), confusion[k].sum(), confusion[k, k]
            recalls.append(hit / there)
            precisions.append(hit / given if given else 0.0)
            assert float(row[f"test_recall[{label}]"]) == pytest.approx(recalls[-1])
            assert float(row[f"test_precision[{label}]"]) == pytest.approx(precisions[-1])
            assert float(row[f"test_f1[{label}]"]) == pytest.approx(2 * hit / (given + there))
        assert float(row["test_recall_macro"]) == pytest.approx(np.mean(recalls))
        assert float(row["test_precision_macro"]) == pytest.approx(np.mean(precisions))


def test_a_regression_has_no_class_scores(tmp_path: Path) -> None:
    Study("diabetes", target="target", output_dir=tmp_path, models="linear").run()
    header = (tmp_path / "leaderboard.csv").read_text().splitlines()[0]
    assert "precision" not in header
