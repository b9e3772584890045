"""Naive Bayes over mixed columns: worked numbers, scikit-learn, and the formulas as written."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

from arboleda import MixedNaiveBayes


def tumours() -> tuple[pd.DataFrame, list[str]]:
    """Fourteen tumours of which only the counts of the course's example are used."""
    malignant = {
        "area": ["large"] * 4 + ["small"],
        "smoothness": ["medium"] + ["high"] * 4,
        "symmetry": [True] + [False] * 4,
    }
    benign = {
        "area": ["large"] + ["small"] * 8,
        "smoothness": ["medium"] * 5 + ["low"] * 4,
        "symmetry": [True] * 5 + [False] * 4,
    }
    frame = pd.concat([pd.DataFrame(malignant), pd.DataFrame(benign)], ignore_index=True)
    return frame, ["malignant"] * 5 + ["benign"] * 9


def test_the_tumour_example_matches() -> None:
    X, y = tumours()
    model = MixedNaiveBayes(alpha=0).fit(X, y)
    new = pd.DataFrame({"area": ["large"], "smoothness": ["medium"], "symmetry": [True]})
    malignant = 5 / 14 * (4 / 5) * (1 / 5) * (1 / 5)
    benign = 9 / 14 * (1 / 9) * (5 / 9) * (5 / 9)
    assert model.classes_.tolist() == ["benign", "malignant"]
    posterior = model.predict_proba(new)[0, 1]
    assert posterior == pytest.approx(malignant / (malignant + benign), rel=1e-14)
    assert round(posterior, 3) == 0.341
    assert model.predict(new) == ["benign"]


def results_of(n_tests: int) -> tuple[pd.DataFrame, list[str], list[float]]:
    """All results of some tests of the same person, with their probabilities as weights."""
    chances = {"sick": (0.9, 0.1), "healthy": (0.05, 0.95)}
    rows, labels, weights = [], [], []
    for state, (positive, negative) in chances.items():
        for results in np.ndindex(*[2] * n_tests):
            rows.append([bool(r) for r in results])
            labels.append(state)
            weights.append(math.prod(positive if r else negative for r in results))
    return pd.DataFrame(rows, columns=[f"test {i}" for i in range(n_tests)]), labels, weights


@pytest.mark.parametrize(("prior", "posterior"), [(0.5, 0.947), (0.01, 0.154)])
def test_the_disease_example_matches(prior: float, posterior: float) -> None:
    X, y, weight = results_of(1)
    model = MixedNaiveBayes(alpha=0, priors=[1 - prior, prior]).fit(X, y, weight)
    assert model.classes_.tolist() == ["healthy", "sick"]
    found = model.predict_proba(pd.DataFrame({"test 0": [True]}))[0, 1]
    assert round(found, 3) == posterior


def test_three_positive_tests_raise_the_posterior_above_nine_tenths() -> None:
    posteriors = []
    for n_tests in (1, 2, 3):
        X, y, weight = results_of(n_tests)
        model = MixedNaiveBayes(alpha=0, priors=[0.99, 0.01]).fit(X, y, weight)
        posteriors.append(model.predict_proba(X[X.all(axis=1)])[0, 1])
    assert [p >= 0.9 for p in posteriors] == [False, False, True]


def test_the_false_positive_rate_for_nine_tenths_matches() -> None:
    rate = 0.9 * 0.01 * (1 / 0.9 - 1) / 0.99
    assert round(rate, 5) == 0.00101
    X = pd.DataFrame({"test": [True, False, True, False]})
    weight = [0.9, 0.1, rate, 1 - rate]
    model = MixedNaiveBayes(alpha=0, priors=[0.01, 0.99])
    model.fit(X, ["sick", "sick", "well", "well"], weight)
    assert model.predict_proba(X[:1])[0, 0] == pytest.approx(0.9)


@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian_columns_match_scikit_learn(weighted: bool) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    ours = MixedNaiveBayes().fit(X, y, weight)
    theirs = GaussianNB().fit(X, y, weight)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-8)
    np.testing.assert_allclose(
        ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 2.5])
def test_categories_match_scikit_learn(alpha: float) -> None:
    random = np.random.default_rng(1)
    X, y = random.integers(0, 4, (80, 3)), random.integers(0, 3, 80)
    weight = random.uniform(0.1, 3, 80)
    ours = MixedNaiveBayes(categorical_features=[0, 1, 2], alpha=alpha).fit(X, y, weight)
    theirs = CategoricalNB(alpha=alpha).fit(X, y, weight)
    for mine, other in zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-10)


def test_binary_columns_match_scikit_learn() -> None:
    random = np.random.default_rng(2)
    X, y = random.integers(0, 2, (60, 4)), random.integers(0, 3, 60)
    X[:, 3] = 0  # the value 1 was never seen, and is not unknown
    theirs = BernoulliNB(alpha=0.5).fit(X, y)
    fresh = random.integers(0, 2, (30, 4))
    for model, table, new in [
        (MixedNaiveBayes(alpha=0.5, binary_features=[0, 1, 2, 3]), X, fresh),
        (MixedNaiveBayes(alpha=0.5), X.astype(bool), fresh.astype(bool)),
        (MixedNaiveBayes(alpha=0.5), pd.DataFrame(X == 1), pd.DataFrame(fresh == 1)),
    ]:
        model.fit(table, y)
        assert set(model.column_kinds_) == {"bernoulli"}
        np.testing.assert_allclose(
            model.predict_log_proba(new), theirs.predict_log_proba(fresh), rtol=1e-10
        )


def mixed(n_rows: int, seed: int) -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_rows)
    X = pd.DataFrame(
        {
            "height": random.normal(y, 1.0),
            "colour": pd.Categorical(random.choice(["red", "green", "blue"], n_rows)),
            "wet": pd.array(random.random(n_rows) < 0.2 + 0.2 * y, dtype="boolean"),
            "width": random.normal(0.0, 1.0 + y),
        }
    )
    for j, name in enumerate(X.columns):
        X.loc[random.random(n_rows) < 0.05 + 0.1 * j, name] = None
    return X, y


def naive_posteriors(
    X: pd.DataFrame, y: Any, weight: Any, new: pd.DataFrame, alpha: float
) -> np.ndarray[Any, Any]:
    """Products of probabilities, row by row, as the textbook writes them."""
    found = []
    for _, row in new.iterrows():
        joint = []
        for k in np.unique(y):
            p = weight[y == k].sum() / weight.sum()
            for name in X.columns:
                if pd.isna(row[name]):
                    continue
                known = X[name].notna() & (y == k)
                w, values = weight[known], X[name][known]
                if name in ("height", "width"):
                    numbers = values.to_numpy(float)
                    mean = np.average(numbers, weights=w)
                    variance = np.average((numbers - mean) ** 2, weights=w)
                    p *= math.exp(-((row[name] - mean) ** 2) / (2 * variance))
                    p /= math.sqrt(2 * math.pi * variance)
                else:
                    n_categories = 2 if name == "wet" else 3
                    same = (values == row[name]).to_numpy(bool)
                    p *= (w[same].sum() + alpha) / (w.sum() + alpha * n_categories)
            joint.append(p)
        found.append(np.array(joint) / sum(joint))
    return np.array(found)


@pytest.mark.parametrize("alpha", [0.0, 1.5])
def test_predictions_match_the_formulas_row_by_row(alpha: float) -> None:
    X, y = mixed(120, 3)
    new = mixed(40, 4)[0]
    weight = np.random.default_rng(5).uniform(0.5, 2.0, len(y))
    model = MixedNaiveBayes(alpha=alpha, var_smoothing=0.0).fit(X, y, weight)
    assert model.column_kinds_ == ["gaussian", "categorical", "bernoulli", "gaussian"]
    np.testing.assert_allclose(
        model.predict_proba(new), naive_posteriors(X, y, weight, new, alpha), rtol=1e-10
    )


def test_a_row_of_missing_values_gets_the_priors() -> None:
    X, y = mixed(60, 6)
    nothing = X[:1].reindex([-1])
    np.testing.assert_allclose(
        MixedNaiveBayes().fit(X, y).predict_proba(nothing)[0], np.bincount(y) / len(y)
    )


def test_unseen_categories_follow_the_prior() -> None:
    X = pd.DataFrame({"colour": ["red", "red", "blue", "red"]})
    y = ["a", "a", "a", "b"]
    model = MixedNaiveBayes(alpha=1.0, priors=[0.5, 0.5]).fit(X, y)
    unseen = pd.DataFrame({"colour": ["violet"]})
    # alpha / (N_k + alpha C) with C = 2
    a, b = 1 / 5, 1 / 3
    np.testing.assert_allclose(model.predict_proba(unseen), [[a / (a + b), b / (a + b)]])
    missing = pd.DataFrame({"colour": [None]}, dtype=object)
    np.testing.assert_allclose(model.predict_proba(missing), [[0.5, 0.5]])


def test_rows_impossible_in_all_classes_match_the_limit_of_small_alpha() -> None:
    X = pd.DataFrame(
        {
            "colour": ["red", "red", "blue", "red", "red"],
            "shape": ["round", "long", "round", "flat", "flat"],
        }
    )
    y = ["a", "a", "a", "b", "b"]
    new = pd.DataFrame({"colour": ["blue", "violet", "blue"], "shape": ["flat", "flat", "tall"]})
    exact = MixedNaiveBayes(alpha=0).fit(X, y).predict_proba(new)
    nearly = MixedNaiveBayes(alpha=1e-12).fit(X, y).predict_proba(new)
    np.testing.assert_allclose(exact, nearly, atol=1e-9)
    assert ((exact == 0).any(axis=1) == [False, True, True]).all()


def test_weights_are_counts() -> None:
    X, y = mixed(50, 7)
    weight = np.random.default_rng(8).integers(0, 4, 50)
    once = MixedNaiveBayes().fit(X, y, weight)
    X.loc[weight == 0, "colour"] = X["colour"].cat.categories[0]
    written_out = X.loc[X.index.repeat(weight)]
    again = MixedNaiveBayes().fit(written_out, np.repeat(y, weight))
    np.testing.assert_allclose(once.predict_proba(X), again.predict_proba(X), rtol=1e-9)


def test_far_away_rows_have_a_prediction() -> None:
    X, y = load_iris(return_X_y=True)
    model = MixedNaiveBayes().fit(X, y)
    far = np.array([[1e300, 0, 0, 0], [1e200, -1e200, 1e308, 1e308], [-1e9, 1e9, 0, 0]])
    p = model.predict_proba(far)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_named_columns_are_matched_and_typed() -> None:
    X, y = mixed(60, 9)
    model = MixedNaiveBayes(categorical_features=["colour"], binary_features=["wet"]).fit(X, y)
    turned = X[X.columns[::-1]]
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(X))
    with pytest.raises(ValueError, match="'colour' is named by binary_features and is categorical"):
        clone(model).set_params(binary_features=["colour"]).fit(X, y)
    with pytest.raises(ValueError, match=r"column 'height' of X is binary, but holds"):
        clone(model).set_params(binary_features=["height"]).fit(X, y)
    with pytest.raises(ValueError, match="binary_features has an item value 'tall' which is"):
        clone(model).set_params(binary_features=["tall"]).fit(X, y)


def test_a_variance_outside_float64_is_refused() -> None:
    X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), [0, 0, 1, 1]
    for scale in (1e-300, 1e300):
        with pytest.raises(ValueError, match="column 0 .* variance is outside float64: divide"):
            MixedNaiveBayes().fit(X * scale, y)
    with pytest.raises(ValueError, match="column 0 of X is constant in class 0"):
        MixedNaiveBayes(var_smoothing=0.0).fit(X * [[0], [0], [1], [1]], y)
