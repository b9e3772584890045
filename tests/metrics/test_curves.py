"""Curves against their definitions and against scikit-learn."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score
from sklearn.preprocessing import label_binarize

from arboleda.metrics import classification_table, precision_recall_curves, roc_curves

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["barolo", "grignolino", "barbera"])[Y]
LABELS = ["barbera", "barolo", "grignolino"]
SCORE = LogisticRegression(max_iter=50, C=1e-3).fit(X[:, :2], NAMES).predict_proba(X[:, :2])
WEIGHT = np.random.default_rng(0).integers(0, 4, len(NAMES)).astype(float)


def test_every_point_counts_the_rows_that_reach_its_threshold() -> None:
    for curve in roc_curves(NAMES, SCORE).curves:
        hit, score = curve.label == NAMES, SCORE[:, LABELS.index(curve.label)]
        for false, true, threshold in zip(
            curve.false_positive_rate, curve.true_positive_rate, curve.threshold, strict=True
        ):
            reaches = score >= threshold
            assert true == pytest.approx(np.mean(reaches[hit]))
            assert false == pytest.approx(np.mean(reaches[~hit]))
        pairs = score[hit][:, np.newaxis] - score[~hit]
        assert curve.area == pytest.approx(np.mean(pairs > 0) + np.mean(pairs == 0) / 2)
    for curve in precision_recall_curves(NAMES, SCORE).curves:
        hit, score = curve.label == NAMES, SCORE[:, LABELS.index(curve.label)]
        assert curve.prevalence == np.mean(hit)
        assert curve.threshold[-1] == np.inf
        assert (curve.recall[-1], curve.precision[-1]) == (0.0, 1.0)
        for recall, precision, threshold in zip(
            curve.recall[:-1], curve.precision[:-1], curve.threshold[:-1], strict=True
        ):
            reaches = score >= threshold
            assert recall == pytest.approx(np.mean(reaches[hit]))
            assert precision == pytest.approx(np.mean(hit[reaches]))
        steps = -np.diff(curve.recall)
        assert curve.average_precision == pytest.approx(steps @ curve.precision[:-1])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_areas_match_scikit_learn_and_the_table(weight: Any) -> None:
    roc = roc_curves(NAMES, SCORE, sample_weight=weight)
    pr = precision_recall_curves(NAMES, SCORE, sample_weight=weight)
    hits = label_binarize(NAMES, classes=LABELS)
    assert list(roc.areas) == list(pr.average_precisions) == LABELS
    for k, label in enumerate(LABELS):
        area = roc_auc_score(hits[:, k], SCORE[:, k], sample_weight=weight)
        average = average_precision_score(hits[:, k], SCORE[:, k], sample_weight=weight)
        assert roc.areas[label] == pytest.approx(area)
        assert pr.average_precisions[label] == pytest.approx(average)
    if weight is None:
        table = classification_table(NAMES, NAMES, SCORE)
        assert roc.mean_area == pytest.approx(table.metrics["roc_auc"])
        assert pr.mean_average_precision == pytest.approx(table.metrics["average_precision"])


def test_weights_match_copies_of_rows() -> None:
    rows = np.repeat(np.arange(len(NAMES)), WEIGHT.astype(int))
    for function in (roc_curves, precision_recall_curves):
        weighted = function(NAMES, SCORE, sample_weight=WEIGHT).to_frame()
        copied = function(NAMES[rows], SCORE[rows]).to_frame()
        if function is precision_recall_curves:  # a row of weight 0 is a threshold all the same
            weighted = weighted.drop_duplicates(["class", "recall", "precision"])
            copied = copied.drop_duplicates(["class", "recall", "precision"])
        for name in set(weighted) - {"class", "threshold"}:
            for label in LABELS:
                some = weighted.loc[weighted["class"] == label, name]
                others = copied.loc[copied["class"] == label, name]
                assert set(np.round(others, 9)) <= set(np.round(some, 9))


def test_two_classes_show_the_second_from_one_or_two_columns() -> None:
    is_barolo = NAMES == "barolo"
    score = SCORE[:, 1]
    for function in (roc_curves, precision_recall_curves):
        (one,) = function(is_barolo, score).curves
        (two,) = function(is_barolo, np.column_stack([1 - score, score])).curves
        assert one.label is two.label is True
        np.testing.assert_array_equal(one.threshold, two.threshold)
    reverse = roc_curves(is_barolo, 1 - score, labels=[True, False])
    assert reverse.areas[False] == pytest.approx(roc_curves(is_barolo, score).areas[True])
    # Scores of a decision function do.
    logits = np.log(score / (1 - score))
    assert roc_curves(is_barolo, logits).areas[True] == pytest.approx(
        roc_curves(is_barolo, score).areas[True]
    )


def test_frames_contain_all_points() -> None:
    frame = precision_recall_curves(NAMES, SCORE).to_frame()
    assert list(frame) == ["class", "threshold", "recall", "precision"]
    some = frame[frame["class"] == "barolo"]
    precision, recall, threshold = precision_recall_curve(NAMES == "barolo", SCORE[:, 1])
    np.testing.assert_array_equal(some["precision"], precision)
    np.testing.assert_array_equal(some["recall"], recall)
    np.testing.assert_array_equal(some["threshold"][:-1], threshold)
    frame = roc_curves(NAMES, SCORE).to_frame()
    assert list(frame) == ["class", "threshold", "false_positive_rate", "true_positive_rate"]


def test_curves_are_plotted() -> None:
    for curves in (roc_curves(NAMES, SCORE), precision_recall_curves(NAMES, SCORE)):
        ax = curves.plot()
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert sum("barolo (A" in text for text in texts) == 1
        drawn = {line.get_label(): line.get_xydata() for line in ax.lines}
        assert len([label for label in drawn if label != "chance"]) == 3
    plt.close("all")


def test_a_class_without_rows_is_left_out() -> None:
    some = NAMES != "barolo"
    found = roc_curves(NAMES[some], SCORE[some], labels=LABELS)
    assert list(found.areas) == ["barbera", "grignolino"]


@pytest.mark.parametrize(
    ("true", "score", "options", "message"),
    [
        ([], [], {}, "there are no rows"),
        ([1, 1], [0.5, 0.5], {}, "all rows are of the class 1"),
        ([1, 1], [0.5, 0.5], {"labels": [0, 1]}, "no class of"),
        ([0, 1], [0.5, np.nan], {}, "give finite scores"),
        ([0, 1], [0.5], {}, "y_score has the shape"),
        ([0, 2], [0.5, 0.5], {"labels": [0, 1]}, "is not among labels"),
        ([0, 1, 1], [0.5, 0.5, 0.2], {"sample_weight": [0, 1, 1]}, "no class of"),
        ([0, 1], [0.5, 0.5], {"sample_weight": [1.0]}, "inconsistent numbers of samples"),
    ],
)
@pytest.mark.parametrize("function", [roc_curves, precision_recall_curves])
def test_inputs_without_a_curve_are_refused(
    function: Any, true: Any, score: Any, options: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        function(true, score, **options)
