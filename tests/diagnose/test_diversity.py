"""Measures of diversity beside a table worked by hand and beside their definitions."""

from itertools import combinations
from math import ceil

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.dummy import DummyRegressor
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from arboleda import BaggingClassifier, DecisionTreeClassifier
from arboleda.combine import out_of_fold_outputs
from arboleda.diagnose import Diversity, diversity

# Ten rows, three members; who is right (1) on which row:
#   a 1 1 1 1 1 1 1 0 0 0
#   b 1 1 1 1 1 0 0 1 0 0
#   c 1 1 1 0 0 1 0 0 0 1
RIGHT = np.array(
    [
        [1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0, 1, 0, 0],
        [1, 1, 1, 0, 0, 1, 0, 0, 0, 1],
    ]
)
Y = np.array(list("ppppppqqqq"))
OTHER = {"p": "q", "q": "p"}


def make_predictions(right: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array([[c if r else OTHER[c] for r, c in zip(row, y, strict=True)] for row in right])


def test_measures_match_a_table_by_hand() -> None:
    found = diversity(make_predictions(RIGHT, Y), Y, names=["a", "b", "c"])
    np.testing.assert_allclose(found.member_error, [0.3, 0.4, 0.5])
    # n11, n10, n01, n00: a, b 5 2 1 2; a, c 4 3 1 2; b, c 3 3 2 2.
    np.testing.assert_allclose(found.q_statistic, [8 / 12, 5 / 11, 0])
    np.testing.assert_allclose(
        found.correlation, [8 / np.sqrt(7 * 3 * 6 * 4), 5 / np.sqrt(7 * 3 * 5 * 5), 0]
    )
    np.testing.assert_allclose(found.disagreement, [0.3, 0.4, 0.5])
    np.testing.assert_allclose(found.double_fault, [0.2, 0.2, 0.2])
    np.testing.assert_allclose(found.error, [0.35, 0.4, 0.45])
    # a predicts p p p p p p q p p p, b p p p p p q p q p p: they agree on 7 rows;
    # a predicts p 9 times, b 8 times, so by chance on 0.9 0.8 + 0.1 0.2 = 0.74 of them.
    assert found.kappa[0] == pytest.approx((0.7 - 0.74) / 0.26)
    # On the rows 3 3 3 2 2 2 1 1 0 1 members are right.
    assert found.entropy == pytest.approx(6 / 10 / (3 - 2))
    assert found.kohavi_wolpert == pytest.approx((6 * 2) / 10 / 9)
    # p(1) = (3 * 1 + 3 * 2 + 1 * 3) / 3 / 10 = 0.4; p(2) = (3 * 2 + 1 * 6) / 6 / 10 = 0.2
    assert found.generalized_diversity == pytest.approx(1 - 0.2 / 0.4)
    means = found.summary()
    assert means["disagreement"] == pytest.approx(0.4)
    assert means["entropy"] == found.entropy


def naive(predictions: np.ndarray, y: np.ndarray) -> dict[str, list[float]]:
    """The definitions, a row and a pair at a time."""
    found: dict[str, list[float]] = {
        "q_statistic": [], "correlation": [], "disagreement": [], "double_fault": [], "kappa": []
    }  # fmt: skip
    for first, second in combinations(predictions, 2):
        n = {(r, s): 0 for r in (True, False) for s in (True, False)}
        for one, two, true in zip(first, second, y, strict=True):
            n[one == true, two == true] += 1
        n11, n10, n01, n00 = (
            n[k] for k in ((True, True), (True, False), (False, True), (False,) * 2)
        )
        same, other = n11 * n00 + n01 * n10, n11 * n00 - n01 * n10
        found["q_statistic"].append(other / same if same else np.nan)
        one, two = np.array(first == y, float), np.array(second == y, float)
        varied = one.std() > 0 and two.std() > 0
        found["correlation"].append(np.corrcoef(one, two)[0, 1] if varied else np.nan)
        found["disagreement"].append((n10 + n01) / len(y))
        found["double_fault"].append(n00 / len(y))
        alike = len({*first, *second}) == 1
        found["kappa"].append(np.nan if alike else cohen_kappa_score(first, second))
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(1, 30), st.integers(1, 4), st.integers(0, 10**6))
def test_measures_of_random_tables_match_their_definitions(
    members: int, rows: int, classes: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=rows)
    predictions = np.where(
        random.random((members, rows)) < 0.6, y, random.integers(classes, size=(members, rows))
    )
    if not np.isin(predictions, y).any():
        return
    found = diversity(predictions, y)
    for name, expected in naive(predictions, y).items():
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-12, err_msg=name)
    right = (predictions == y).sum(axis=0)
    entropy = np.mean([min(r, members - r) / (members - ceil(members / 2)) for r in right])
    assert found.entropy == pytest.approx(entropy)
    assert 0 <= found.entropy <= 1
    # Kuncheva and Whitaker (2003), section 2.2.2: KW = (L - 1) / (2 L) of the mean disagreement.
    assert found.kohavi_wolpert == pytest.approx(
        (members - 1) / (2 * members) * found.disagreement.mean()
    )
    wrong = members - right
    if wrong.any():
        # 1 - p(2) / p(1), drawing two different members of each row.
        two = np.mean([w * (w - 1) for w in wrong]) / (members * (members - 1))
        assert found.generalized_diversity == pytest.approx(1 - two / (wrong.mean() / members))


def test_measures_reach_their_limits() -> None:
    y = np.array([0, 1] * 4)
    alike = diversity([1 - y, 1 - y], y.copy())
    assert alike.generalized_diversity == 0  # each failure is shared
    assert alike.kappa[0] == 1
    turns = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    apart = diversity([np.where(turns == 0, 1 - y, y), np.where(turns == 1, 1 - y, y)], y)
    assert apart.generalized_diversity == 1
    assert apart.q_statistic[0] == -1
    assert apart.kappa[0] == -1
    assert apart.entropy == 1


def test_undefined_measures_are_nan_and_left_out_of_means() -> None:
    y = np.array([0, 1, 0, 1])
    found = diversity([y, y, [0, 0, 0, 1]], y)
    assert np.isnan(found.q_statistic).all()
    assert np.isnan(found.correlation).all()
    assert np.isnan(found.summary()["correlation"])
    assert np.isnan(diversity([y, y], y).generalized_diversity)
    constant = diversity([[0] * 4, [0] * 4, [0, 0, 1, 1]], y)
    assert np.isnan(constant.kappa[0])
    assert constant.summary()["kappa"] == constant.kappa[1:].mean()


def test_rows_are_counted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    y = random.integers(3, size=1000)
    predictions = np.where(random.random((4, 1000)) < 0.7, y, 0)
    whole = diversity(predictions, y).to_frame()
    monkeypatch.setattr("arboleda.diagnose._diversity._BLOCK", 64)
    assert whole.equals(diversity(predictions, y).to_frame())


@pytest.fixture
def found() -> Diversity:
    return diversity(make_predictions(RIGHT, Y), Y, names=["a", "b", "c"])


def test_pairs_are_given_as_a_frame(found: Diversity) -> None:
    frame = found.to_frame()
    assert frame["first"].tolist() == ["a", "a", "b"]
    assert frame["second"].tolist() == ["b", "c", "c"]
    assert frame["disagreement"].tolist() == found.disagreement.tolist()


def test_the_kappa_error_diagram_shows_every_pair(found: Diversity) -> None:
    axes = found.plot(label="three")
    pairs, centre = axes.lines
    np.testing.assert_array_equal(pairs.get_xdata(), found.kappa)
    np.testing.assert_array_equal(pairs.get_ydata(), found.error)
    assert centre.get_label() == "three"
    assert centre.get_xdata()[0] == pytest.approx(found.kappa.mean())
    assert centre.get_ydata()[0] == pytest.approx(0.4)
    assert found.plot(axes) is axes
    plt.close(axes.figure)


def test_members_with_encoded_classes_are_given_their_names() -> None:
    X, y = np.arange(20.0)[:, np.newaxis], np.array(list("ab") * 10)
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(X, y)
    numbers = np.array([tree.predict(X) for tree in bag.estimators_])
    with pytest.raises(ValueError, match=r"use ensemble.classes_\[numbers\]"):
        diversity(numbers, y)
    assert diversity(bag.classes_[numbers], y).member_error.max() < 0.5


def test_predictions_of_members_are_out_of_fold() -> None:
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    members = [("tree", DecisionTreeClassifier(random_state=0)), ("bayes", GaussianNB())]
    order = np.random.default_rng(0).permutation(150)
    # Time-ordered folds never predict the first rows.
    outputs = out_of_fold_outputs(members, X[order], labels[order], cv=TimeSeriesSplit(4))
    found = diversity(outputs, labels[order])
    assert found.names == ("tree", "bayes")
    rows = outputs.rows
    assert len(rows) == 120
    predicted = outputs.classes[outputs.choices()]
    by_hand = diversity(predicted, labels[order][rows])
    assert found.kappa[0] == by_hand.kappa[0] > 0.7
    np.testing.assert_array_equal(found.member_error, by_hand.member_error)
    with pytest.raises(ValueError, match="for each of the 150 rows of the members' table, got 120"):
        diversity(outputs, labels[order][rows])
    numbers = out_of_fold_outputs([("mean", DummyRegressor())], X, X[:, 0])
    with pytest.raises(ValueError, match="the members are regressors"):
        diversity(numbers, X[:, 0])


@pytest.mark.parametrize(
    ("predictions", "y", "message"),
    [
        ([[0, 1]], [0, 1], "at least two members; got an array of shape \\(1, 2\\)"),
        ([0, 1], [0, 1], "at least two members"),
        ([[0, 1], [1, 0]], [0, 1, 1], "predictions are for 2 rows, but y has the shape \\(3,\\)"),
        ([[0, 1], [1, 0]], ["a", "b"], "no prediction is a class of y"),
        ([[5, 6], [5, 6]], [0, 1], "no prediction is a class of y: a prediction is "),
        ([[0.0, np.nan], [1, 0]], [0, 1], "NaN, which is not a class"),
        ([[0.5, 1.5], [1, 0]], [0.25, 1.5], "Unknown label type"),
    ],
)
def test_invalid_tables_of_classes_are_refused(predictions: list, y: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        diversity(predictions, y)


def test_labels_of_several_types_are_refused() -> None:
    with pytest.raises(ValueError, match="labels of several types.*convert them to one type"):
        diversity([["a", None], ["a", "a"]], ["a", "b"])


def test_the_number_of_names_must_match_the_members() -> None:
    with pytest.raises(ValueError, match="names has 1 entries for 2 members"):
        diversity([[0, 1], [1, 1]], [0, 1], names=["one"])


def test_predictions_can_be_a_dict() -> None:
    predictions = {"one": [0, 0, 1, 1], "two": [0, 1, 1, 0]}
    found = diversity(predictions, [0, 0, 1, 1])
    assert found.names == ("one", "two")
    listed = diversity(list(predictions.values()), [0, 0, 1, 1])
    np.testing.assert_array_equal(found.disagreement, listed.disagreement)
