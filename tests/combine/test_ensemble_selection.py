"""Greedy selection against the algorithm of Caruana et al. (2004) written plainly."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    root_mean_squared_error,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
)
from arboleda.combine import out_of_fold_outputs
from arboleda.combine._greedy_selection import make_ensemble_scorer, select_greedily

RANDOM = np.random.default_rng(0)
LABELS = np.array(["a", "b", "c"])


def shares(n_members: int, n_rows: int, n_classes: int, target: Any) -> Any:
    outputs = RANDOM.dirichlet(np.ones(n_classes), (n_members, n_rows))
    outputs += RANDOM.uniform(0, 0.8, (n_members, 1, 1)) * np.eye(n_classes)[target]
    return outputs / outputs.sum(axis=2, keepdims=True)


def naive(outputs: Any, score: Any, library: list[int], n_initial: int | None, rounds: int) -> Any:
    """Every candidate's mean is formed from nothing, and handed to the metric."""
    order = sorted(library, key=lambda member: -score(outputs[member]))
    if n_initial is None:
        first = [score(outputs[order[: k + 1]].mean(axis=0)) for k in range(len(order))]
        n_initial = int(np.argmax(first)) + 1
    chosen = order[:n_initial]
    best, kept = score(outputs[chosen].mean(axis=0)), list(chosen)
    for _ in range(rounds):
        scores = [score(outputs[[*chosen, member]].mean(axis=0)) for member in order]
        chosen = [*chosen, order[int(np.argmax(scores))]]
        if max(scores) > best + 1e-12:
            best, kept = max(scores), list(chosen)
    return kept, best


CLASS_METRICS: dict[Any, Any] = {
    "neg_log_loss": lambda y, p, w: -log_loss(y, p, sample_weight=w, labels=LABELS),
    "accuracy": lambda y, p, w: accuracy_score(y, LABELS[p.argmax(axis=1)], sample_weight=w),
    "neg_brier_score": lambda y, p, w: -brier_score_loss(y, p, sample_weight=w, labels=LABELS),
    "f1_macro": lambda y, p, w: f1_score(
        y, LABELS[p.argmax(axis=1)], average="macro", sample_weight=w
    ),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", CLASS_METRICS)
def test_classifiers_are_selected_like_the_naive_algorithm(scoring: str, weighted: bool) -> None:
    target = RANDOM.integers(0, 3, 60)
    outputs = shares(7, 60, 3, target)
    weight = RANDOM.uniform(0.5, 2, 60) if weighted else np.ones(60)
    scorer = make_ensemble_scorer(scoring, outputs, target, weight, LABELS)
    metric = CLASS_METRICS[scoring]
    for library, n_initial in ((list(range(7)), None), ([6, 4, 2, 1], 2)):
        found = select_greedily(scorer, library, n_initial, 6)
        chosen, best = naive(
            outputs, lambda p: metric(LABELS[target], p, weight), library, n_initial, 6
        )
        assert found.chosen == chosen
        assert max(found.scores[len(chosen) - 1 :]) == pytest.approx(best)
        assert found.scores[len(chosen) - 1] == pytest.approx(best)


VALUE_METRICS: dict[str, Any] = {
    "neg_mean_squared_error": lambda y, f, w: -mean_squared_error(y, f, sample_weight=w),
    "neg_root_mean_squared_error": lambda y, f, w: -root_mean_squared_error(y, f, sample_weight=w),
    "neg_mean_absolute_error": lambda y, f, w: -mean_absolute_error(y, f, sample_weight=w),
    "r2": lambda y, f, w: r2_score(y, f, sample_weight=w),
}


@pytest.mark.parametrize("scoring", VALUE_METRICS)
def test_regressors_are_selected_like_the_naive_algorithm(scoring: str) -> None:
    target = RANDOM.normal(size=50)
    outputs = target + RANDOM.normal(size=(6, 50)) * RANDOM.uniform(0.3, 2, 6)[:, None]
    weight = RANDOM.uniform(0.5, 2, 50)
    scorer = make_ensemble_scorer(scoring, outputs, target, weight, None)
    found = select_greedily(scorer, range(6), None, 20)
    chosen, best = naive(
        outputs, lambda f: VALUE_METRICS[scoring](target, f, weight), list(range(6)), None, 20
    )
    assert found.chosen == chosen
    assert found.scores[len(chosen) - 1] == pytest.approx(best)


def test_the_brier_score_of_two_classes_matches_scikit_learn() -> None:
    target = RANDOM.integers(0, 2, 40)
    outputs = shares(3, 40, 2, target)
    scorer = make_ensemble_scorer("neg_brier_score", outputs, target, np.ones(40), LABELS[:2])
    expected = -brier_score_loss(target, outputs[1, :, 1])
    assert scorer.score_with(1) == pytest.approx(expected)


def library() -> list[tuple[str, Any]]:
    return [
        ("bayes", GaussianNB()),
        ("stump", DecisionTreeClassifier(max_depth=1)),
        ("logistic", LogisticRegression(max_iter=1000)),
        ("tree", DecisionTreeClassifier(random_state=0)),
    ]


@pytest.mark.parametrize("scoring", ["neg_log_loss", make_scorer(accuracy_score)])
def test_the_ensemble_is_the_mean_of_the_selected_members(scoring: Any) -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = EnsembleSelectionClassifier(library(), scoring=scoring, n_rounds=15, n_bags=1).fit(
        X, names
    )
    chosen = model.selections_[0].chosen
    np.testing.assert_allclose(model.weights_, np.bincount(chosen, minlength=4) / len(chosen))
    predicted = np.mean([model.estimators_[member].predict_proba(X) for member in chosen], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), predicted)
    assert set(model.predict(X)) <= set(names)
    # What was chosen is at least as good out of fold as any member alone.
    assert max(model.selections_[0].scores) >= model.scores_.max()


def test_scores_are_out_of_fold() -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [("ridge", Ridge(0.1)), ("near", KNeighborsRegressor()), ("out", "drop")]
    model = EnsembleSelectionRegressor(members, scoring="r2").fit(X, y)
    outputs = out_of_fold_outputs(members, X, y).outputs
    np.testing.assert_allclose(model.scores_, [r2_score(y, predicted) for predicted in outputs])
    assert model.named_estimators_["out"] == "drop"
    ridge, near = (member.predict(X) for member in model.estimators_)
    expected = model.weights_[0] * ridge + model.weights_[1] * near
    np.testing.assert_allclose(model.predict(X), expected)


def test_bags_of_the_library_are_averaged() -> None:
    X, y = load_iris(return_X_y=True)
    model = EnsembleSelectionClassifier(
        library(), n_bags=6, bag_fraction=0.5, n_rounds=5, random_state=0
    )
    model.fit(X, y)
    assert len(model.selections_) == 6
    assert all(len(set(part.chosen)) <= 3 for part in model.selections_)
    assert len({tuple(sorted(set(part.chosen))) for part in model.selections_}) > 1
    expected = np.mean([part.shares(4) for part in model.selections_], axis=0)
    np.testing.assert_allclose(model.weights_, expected)
    again = EnsembleSelectionClassifier(
        library(), n_bags=6, bag_fraction=0.5, n_rounds=5, random_state=0
    )
    np.testing.assert_array_equal(again.fit(X, y).weights_, model.weights_)
    # Three members are no library to draw parts of.
    three = EnsembleSelectionClassifier(library()[:3], n_rounds=5).fit(X, y)
    assert len(three.selections_) == 1


def test_fitted_members_are_evaluated_on_the_given_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    tree = DecisionTreeRegressor().fit(X[:300], y[:300])
    ridge = Ridge(0.1).fit(X[:300], y[:300])
    model = EnsembleSelectionRegressor([("tree", tree), ("ridge", ridge)], cv="prefit")
    model.fit(X[300:], y[300:])
    assert model.estimators_[0] is tree
    expected = [
        -root_mean_squared_error(y[300:], member.predict(X[300:])) for member in (tree, ridge)
    ]
    np.testing.assert_allclose(model.scores_, expected)


def test_selecting_from_many_members_is_fast() -> None:
    n_members, n_rows = 60, 20_000
    target = RANDOM.normal(size=n_rows)
    outputs = target + RANDOM.normal(size=(n_members, n_rows))
    scorer = make_ensemble_scorer("r2", outputs, target, np.ones(n_rows), None)
    start = time.process_time()
    for _ in range(20):
        select_greedily(scorer, range(n_members), None, 50)
    assert time.process_time() - start < 2  # 60,000 means of 20,000 rows are 12 s
