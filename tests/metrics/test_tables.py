"""The metric tables match scikit-learn, and the worked numbers of the textbooks."""

import numpy as np
import pytest
from sklearn import metrics as sk

from arboleda.metrics import classification_table, regression_table


def test_the_confusion_matrix_matches_a_worked_example() -> None:
    # TP = 2, FN = 15, FP = 3, TN = 180
    y_true = np.repeat([1, 1, 0, 0], [2, 15, 3, 180])
    y_pred = np.repeat([1, 0, 1, 0], [2, 15, 3, 180])
    table = classification_table(y_true, y_pred)
    assert table.confusion.tolist() == [[180, 3], [15, 2]]
    assert table.metrics["accuracy"] == pytest.approx(0.91)
    assert table.metrics["error"] == pytest.approx(0.09)
    positive = table.per_class[1]
    assert positive["precision"] == pytest.approx(0.40)
    assert positive["recall"] == pytest.approx(2 / 17)
    assert round(positive["recall"], 3) == 0.118
    assert positive["specificity"] == pytest.approx(180 / 183)
    assert positive["support"] == 17


def test_every_value_matches_scikit_learn() -> None:
    draw = np.random.default_rng(3)
    labels = np.array(["a", "b", "c", "d"])
    y = labels[draw.integers(4, size=300)]
    score = draw.dirichlet(np.ones(4), size=300)
    predicted = labels[score.argmax(axis=1)]
    table = classification_table(y, predicted, score)
    precision, recall, f1, support = sk.precision_recall_fscore_support(y, predicted)
    for k, row in enumerate(table.per_class):
        assert (row["precision"], row["recall"]) == (precision[k], recall[k])
        assert (row["f1"], row["support"]) == (f1[k], support[k])
        others = y != labels[k]
        assert row["specificity"] == pytest.approx(np.mean(predicted[others] != labels[k]))
    assert table.macro["precision"] == pytest.approx(precision.mean())
    weighted = sk.precision_recall_fscore_support(y, predicted, average="weighted")
    assert table.weighted["f1"] == pytest.approx(weighted[2])
    found = table.metrics
    assert found["balanced_accuracy"] == pytest.approx(sk.balanced_accuracy_score(y, predicted))
    assert found["mcc"] == sk.matthews_corrcoef(y, predicted)
    assert found["f1_macro"] == pytest.approx(sk.f1_score(y, predicted, average="macro"))
    assert found["roc_auc"] == pytest.approx(sk.roc_auc_score(y, score, multi_class="ovr"))
    assert found["log_loss"] == pytest.approx(sk.log_loss(y, score))
    one_hot = (y[:, None] == labels).astype(float)
    assert found["brier"] == pytest.approx(np.mean(np.sum((score - one_hot) ** 2, axis=1)))


def test_binary_scores_refer_to_the_second_class() -> None:
    y = np.array([0, 0, 1, 1, 1])
    p = np.array([0.1, 0.6, 0.4, 0.8, 0.9])
    metrics = classification_table(y, (p > 0.5).astype(int), p).metrics
    assert metrics["roc_auc"] == pytest.approx(sk.roc_auc_score(y, p))
    assert metrics["average_precision"] == pytest.approx(sk.average_precision_score(y, p))
    assert metrics["brier"] == pytest.approx(sk.brier_score_loss(y, p))
    margins = classification_table(y, (p > 0.5).astype(int), 5 * p).metrics
    assert margins["roc_auc"] == metrics["roc_auc"]
    assert margins["log_loss"] is None
    assert margins["brier"] is None


def test_a_class_without_rows_leaves_curves_undefined() -> None:
    table = classification_table([0, 0], [0, 1], [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]], [0, 1, 2])
    assert table.metrics["roc_auc"] is None
    assert table.metrics["balanced_accuracy"] == 0.5
    assert table.per_class[2] == {
        "precision": 0.0,
        "recall": 0.0,
        "specificity": 1.0,
        "f1": 0.0,
        "support": 0.0,
    }


def test_frames_match_the_tables() -> None:
    table = classification_table(["x", "y", "y"], ["x", "y", "x"])
    frame = table.to_frame()
    assert list(frame.index) == ["x", "y", "macro", "weighted"]
    assert frame.loc["x", "precision"] == 0.5
    assert frame.loc["macro", "support"] == 3
    assert regression_table([1, 2, 4], [1, 2, 3]).to_frame().loc["mae", "value"] == pytest.approx(
        1 / 3
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], [0, 1], None, [0, 1]), "class 2 in row 1"),
        (([0, 1], [0, 1], [0.1, 0.2, 0.3], None), "y_score has the shape"),
        (([0, 1, 1], [0, 1], None, None), "inconsistent"),
    ],
)
def test_errors_name_invalid_arguments(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        classification_table(*arguments)  # type: ignore[arg-type]


def test_regression_values_match_scikit_learn() -> None:
    draw = np.random.default_rng(5)
    y = draw.normal(10, 2, size=100)
    predicted = y + draw.normal(size=100)
    metrics = regression_table(y, predicted).metrics
    assert metrics["mse"] == sk.mean_squared_error(y, predicted)
    assert metrics["rmse"] == pytest.approx(sk.root_mean_squared_error(y, predicted))
    assert metrics["mae"] == sk.mean_absolute_error(y, predicted)
    assert metrics["mape"] == sk.mean_absolute_percentage_error(y, predicted)
    assert metrics["r2"] == sk.r2_score(y, predicted)
    assert metrics["nmse"] == pytest.approx(sk.mean_squared_error(y, predicted) / np.var(y))
    assert metrics["r2"] == pytest.approx(1 - metrics["nmse"])


def test_undefined_regression_values_are_missing() -> None:
    constant = regression_table([2.0, 2.0], [1.0, 3.0]).metrics
    assert (constant["r2"], constant["nmse"], constant["mse"]) == (None, None, 1.0)
    assert regression_table([0.0, 1.0], [0.0, 1.0]).metrics["mape"] is None


@pytest.mark.parametrize(("true", "predicted"), [(1, 1), (0, 1)])
def test_rows_of_one_class_raise_no_warning(true: int, predicted: int) -> None:
    table = classification_table([true] * 4, [predicted] * 4, labels=[0, 1])
    assert table.metrics["mcc"] == 0.0
    assert table.metrics["accuracy"] == float(true == predicted)
