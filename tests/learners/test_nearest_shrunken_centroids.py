"""Nearest shrunken centroids: Tibshirani's formulas, scikit-learn, a table as of genes."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import NearestCentroid

from arboleda import NearestShrunkenCentroids

_IRIS = load_iris(return_X_y=True)


def genes(seed: int, n_rows: int = 50, n_columns: int = 5000, n_informative: int = 25) -> Any:
    """Two kinds of tissue that differ in some of many columns."""
    random = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    X = random.normal(size=(n_rows, n_columns)) * random.uniform(0.8, 1.2, n_columns)
    informative = np.sort(random.choice(n_columns, n_informative, replace=False))
    X[:, informative] += 2.0 * y[:, np.newaxis]
    return X, y, informative


def naive(X: Any, y: Any, new: Any, threshold: float) -> tuple[Any, Any, Any]:
    """Deviations, centroids and posteriors, number by number as the paper writes them."""
    n, p = X.shape
    classes = np.unique(y)
    overall = [X[:, j].mean() for j in range(p)]
    means = [[X[y == k, j].mean() for j in range(p)] for k in classes]
    s = []
    for j in range(p):
        squares = sum((X[i, j] - means[list(classes).index(y[i])][j]) ** 2 for i in range(n))
        s.append(math.sqrt(squares / (n - len(classes))))
    s0 = float(np.median(s))
    deviations, centroids = np.zeros((len(classes), p)), np.zeros((len(classes), p))
    for c, k in enumerate(classes):
        m = math.sqrt(1 / (y == k).sum() - 1 / n)
        for j in range(p):
            d = (means[c][j] - overall[j]) / (m * (s[j] + s0))
            deviations[c, j] = math.copysign(max(abs(d) - threshold, 0.0), d)
            centroids[c, j] = overall[j] + m * (s[j] + s0) * deviations[c, j]
    posteriors = []
    for x in new:
        delta = [
            sum((x[j] - centroids[c, j]) ** 2 / (s[j] + s0) ** 2 for j in range(p))
            - 2 * math.log((y == k).mean())
            for c, k in enumerate(classes)
        ]
        shares = np.exp(-(np.array(delta) - min(delta)) / 2)
        posteriors.append(shares / shares.sum())
    return deviations, centroids, np.array(posteriors)


@pytest.mark.parametrize("threshold", [0.0, 1.5, 4.0, 1000.0])
@pytest.mark.parametrize("table", [_IRIS, load_wine(return_X_y=True)], ids=["iris", "wine"])
def test_predictions_match_the_formulas_of_the_paper(table: Any, threshold: float) -> None:
    X, y = table[0][10:], table[1][10:]  # classes of different sizes
    model = NearestShrunkenCentroids(shrink_threshold=threshold).fit(X, y)
    deviations, centroids, posteriors = naive(X, y, X[::7], threshold)
    np.testing.assert_allclose(model.deviations_, deviations, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.centroids_, centroids, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X[::7]), posteriors, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(
        model.selected_features_, np.flatnonzero((deviations != 0).any(axis=0))
    )
    assert model.path_ is None


@pytest.mark.parametrize("threshold", [0.1, 2.0])
def test_centroids_match_scikit_learn_and_distances_do_not(threshold: float) -> None:
    X, y = load_wine(return_X_y=True)
    ours = NearestShrunkenCentroids(shrink_threshold=threshold).fit(X, y)
    theirs = NearestCentroid(shrink_threshold=threshold).fit(X, y)
    np.testing.assert_allclose(ours.deviations_, theirs.deviations_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.centroids_, theirs.centroids_, rtol=1e-9)
    np.testing.assert_allclose(ours.within_class_std_dev_, theirs.within_class_std_dev_, rtol=1e-12)
    # In the columns' own units proline, in hundreds, decides alone.
    assert ours.score(X, y) > theirs.score(X, y) + 0.2


def test_informative_columns_are_found_among_five_thousand() -> None:
    for seed in range(3):
        X, y, informative = genes(seed, n_rows=100)
        model = NearestShrunkenCentroids(random_state=0).fit(X[:50], y[:50])
        # The error alone selects few columns; those are right, and so are the next on the path.
        assert np.isin(model.selected_features_, informative).mean() >= 0.9
        assert model.score(X[50:], y[50:]) >= 0.95
        path = model.path_
        assert path is not None
        threshold = float(path.threshold[path.n_features <= 30][0])
        model.set_params(shrink_threshold=threshold).fit(X[:50], y[:50])
        assert np.isin(informative, model.selected_features_).sum() >= 22


def test_the_path_matches_cross_validation_of_each_threshold() -> None:
    X, y, _ = genes(4, n_columns=60, n_informative=5)
    folds = StratifiedKFold(5)
    model = NearestShrunkenCentroids(n_thresholds=7, cv=folds).fit(X, y)
    path = model.path_
    assert path is not None
    for i, threshold in enumerate(path.threshold):
        one = NearestShrunkenCentroids(shrink_threshold=float(threshold))
        scores = cross_val_score(one, X, y, cv=folds)
        assert path.mean_error[i] == pytest.approx(1 - scores.mean(), abs=1e-12)
        assert path.standard_error[i] == pytest.approx((1 - scores).std() / 2, abs=1e-12)
        assert path.n_features[i] == one.fit(X, y).selected_features_.size
    assert path.threshold[0] == 0.0
    assert path.n_features[-1] == 0
    assert (np.diff(path.n_features) <= 0).all()
    least = np.flatnonzero(path.mean_error == path.mean_error.min())
    assert path.best_index == least[-1]
    assert model.shrink_threshold_ == path.threshold[path.best_index]
    assert path.to_frame().shape == (7, 4)


def test_without_columns_the_priors_are_predicted() -> None:
    X, y = _IRIS[0][:120], _IRIS[1][:120]
    model = NearestShrunkenCentroids(shrink_threshold=1e6).fit(X, y)
    assert model.selected_features_.size == 0
    np.testing.assert_allclose(model.predict_proba(X), np.tile(model.class_prior_, (120, 1)))


def test_dropped_columns_have_no_influence() -> None:
    X, y, _ = genes(5, n_columns=200)
    model = NearestShrunkenCentroids(random_state=0).fit(X, y)
    changed = np.full_like(X, 1e300)
    changed[:, model.selected_features_] = X[:, model.selected_features_]
    np.testing.assert_array_equal(model.predict_proba(changed), model.predict_proba(X))


def test_the_path_is_plotted() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y, _ = genes(6, n_columns=100)
    model = NearestShrunkenCentroids(random_state=0).fit(X, y)
    assert model.path_ is not None
    ax = model.path_.plot()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"chosen: {model.selected_features_.size} columns" in legend
    plt.close("all")
