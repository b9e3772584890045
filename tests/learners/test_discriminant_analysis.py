"""Regularised discriminant analysis and diagonal LDA: corners, formulas, more columns than rows."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from arboleda import DiagonalLDA, RegularizedDiscriminantAnalysis
from arboleda.learners._class_rows import within_scale
from arboleda.learners._gaussian_classes import ClassMoments, LeaveOneOutDensities, log_densities

_IRIS = load_iris(return_X_y=True)
_WINE = load_wine(return_X_y=True)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("table", [_IRIS, _WINE], ids=["iris", "wine"])
def test_the_unshrunken_corners_are_qda_and_lda(table: Any, standardize: bool) -> None:
    X, y = table
    quadratic = RegularizedDiscriminantAnalysis(0.0, 0.0, standardize=standardize).fit(X, y)
    linear = RegularizedDiscriminantAnalysis(1.0, 0.0, standardize=standardize).fit(X, y)
    qda = QuadraticDiscriminantAnalysis(solver="eigen").fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    for ours, theirs in ((quadratic, qda), (linear, lda)):
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
        np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-12)


def test_the_fully_shrunken_corners_match_their_formulas() -> None:
    X, y = _WINE
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    nearest = np.square(X[:, np.newaxis] - means).sum(axis=2).argmin(axis=1)
    ours = RegularizedDiscriminantAnalysis(1.0, 1.0, standardize=False, priors=[1 / 3] * 3)
    np.testing.assert_array_equal(ours.fit(X, y).predict(X), nearest)
    diagonal = RegularizedDiscriminantAnalysis(1.0, 1.0).fit(X, y)
    np.testing.assert_allclose(
        diagonal.predict_log_proba(X), DiagonalLDA().fit(X, y).predict_log_proba(X), rtol=1e-9
    )


def naive_posteriors(X: Any, y: Any, weight: Any, new: Any, alpha: float, gamma: float) -> Any:
    """Friedman's equations (11) to (18) with inverses and determinants."""
    p = X.shape[1]
    scatters, means, totals = [], [], []
    for k in np.unique(y):
        w, rows = weight[y == k], X[y == k]
        mean = np.average(rows, axis=0, weights=w)
        scatters.append(sum(a * np.outer(x - mean, x - mean) for a, x in zip(w, rows, strict=True)))
        means.append(mean)
        totals.append(w.sum())
    joint = []
    for scatter, mean, total in zip(scatters, means, totals, strict=True):
        sigma = (1 - alpha) * scatter + alpha * sum(scatters)
        sigma = sigma / ((1 - alpha) * total + alpha * sum(totals))
        sigma = (1 - gamma) * sigma + gamma * np.trace(sigma) / p * np.eye(p)
        away = new - mean
        distance = np.einsum("ij,jk,ik->i", away, np.linalg.inv(sigma), away)
        log_p = math.log(total / sum(totals)) - 0.5 * np.linalg.slogdet(sigma)[1]
        joint.append(log_p - 0.5 * distance)
    log_joint = np.array(joint).T
    p_joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return p_joint / p_joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_columns", [3, 40], ids=["few columns", "more columns than rows"])
@pytest.mark.parametrize(("alpha", "gamma"), [(0.0, 0.3), (0.4, 0.2), (1.0, 0.05), (0.7, 1.0)])
def test_rda_matches_friedmans_equations(n_columns: int, alpha: float, gamma: float) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 30)
    X = random.normal(size=(30, n_columns)) * (1.0 + y[:, np.newaxis]) + 0.5 * y[:, np.newaxis]
    new = random.normal(size=(20, n_columns)) * 2.0
    weight = random.uniform(0.5, 2.0, 30)
    model = RegularizedDiscriminantAnalysis(alpha, gamma, standardize=False).fit(X, y, weight)
    np.testing.assert_allclose(
        model.predict_proba(new), naive_posteriors(X, y, weight, new, alpha, gamma), atol=1e-9
    )


@pytest.mark.parametrize("learner", [RegularizedDiscriminantAnalysis(0.5, 0.2), DiagonalLDA()])
def test_units_do_not_matter(learner: Any) -> None:
    X, y = _WINE
    units = 10.0 ** np.arange(-6, 7)
    np.testing.assert_allclose(
        clone(learner).fit(X * units - 3.0, y).predict_proba(X * units - 3.0),
        clone(learner).fit(X, y).predict_proba(X),
        rtol=1e-6,
    )


def test_diagonal_lda_matches_its_formula() -> None:
    X, y = _IRIS
    model = DiagonalLDA().fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    variance = ((X - means[y]) ** 2).mean(axis=0)
    np.testing.assert_allclose(model.means_, means)
    np.testing.assert_allclose(model.scale_, np.sqrt(variance))
    joint = -0.5 * (((X[:, np.newaxis] - means) ** 2) / variance).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
    # Naive Bayes with one variance for all classes is the same model.
    bayes = GaussianNB(var_smoothing=0).fit(X, y)
    bayes.var_[:] = variance
    np.testing.assert_allclose(model.predict_proba(X), bayes.predict_proba(X), atol=1e-12)


def test_the_grid_matches_cross_validation_of_each_pair() -> None:
    random = np.random.default_rng(1)
    y = random.integers(0, 3, 60)
    X = random.normal(size=(60, 8)) + 0.7 * y[:, np.newaxis] * random.normal(size=8)
    folds = StratifiedKFold(4)
    model = RegularizedDiscriminantAnalysis([0.0, 0.5, 1.0], [0.0, 0.1, 1.0], cv=folds).fit(X, y)
    plane = model.plane_
    assert plane is not None
    for i, alpha in enumerate(plane.alpha):
        for j, gamma in enumerate(plane.gamma):
            one = RegularizedDiscriminantAnalysis(float(alpha), float(gamma))
            scores = cross_val_score(one, X, y, cv=folds)
            assert plane.mean_error[i, j] == pytest.approx(1 - scores.mean(), abs=1e-12)
            error = (1 - scores).std() / math.sqrt(3)
            assert plane.standard_error[i, j] == pytest.approx(error, abs=1e-12)
    i, j = plane.best_index
    assert (model.alpha_, model.gamma_) == (plane.alpha[i], plane.gamma[j])
    assert plane.mean_error[i, j] == plane.mean_error.min()
    frame = plane.to_frame()
    assert frame.shape == (9, 4)
    assert frame.loc[3 * i + j, "mean_error"] == plane.mean_error[i, j]


def test_ties_go_to_the_simplest_model() -> None:
    X = np.r_[np.zeros((10, 2)), np.full((10, 2), 9.0)] + np.arange(40).reshape(20, 2) % 3
    model = RegularizedDiscriminantAnalysis(random_state=0).fit(X, np.repeat([0, 1], 10))
    assert (model.alpha_, model.gamma_) == (1.0, 1.0)


@pytest.mark.parametrize(("n_columns", "standardize"), [(2, True), (6, False), (40, True)])
def test_leave_one_out_matches_refitting(n_columns: int, standardize: bool) -> None:
    """Each row's densities by the classes of the others, with a row alone in its class."""
    random = np.random.default_rng(5)
    y = np.r_[np.arange(28) % 2, 2]
    X = random.normal(size=(29, n_columns)) * (1.0 + y[:, np.newaxis]) + 0.7 * y[:, np.newaxis]
    weight = random.uniform(0.5, 2.0, 29)
    grid = [0.0, 0.3, 1.0]
    if standardize:  # by all rows, so that the parts agree too
        X = X / within_scale(X, y, weight, common=False)
    one_by_one = np.zeros((3, 3))
    for i in range(29):
        others = np.arange(29) != i
        for a, alpha in enumerate(grid):
            for g, gamma in enumerate(grid):
                model = RegularizedDiscriminantAnalysis(alpha, gamma, standardize=False)
                model.fit(X[others], y[others], weight[others])
                one_by_one[a, g] += weight[i] * (model.predict(X[[i]])[0] != y[i])
    model = RegularizedDiscriminantAnalysis(grid, grid, cv="loo", standardize=standardize)
    plane = model.fit(X, y, weight).plane_
    assert plane is not None
    np.testing.assert_allclose(plane.mean_error, one_by_one / weight.sum(), atol=1e-12)


@pytest.mark.parametrize(("n_columns", "gammas"), [(4, [0.0, 0.2, 1.0]), (60, [0.1, 0.5, 1.0])])
def test_densities_of_held_out_rows_match_refitting(n_columns: int, gammas: list[float]) -> None:
    random = np.random.default_rng(6)
    labels, weight = np.arange(36) % 3, random.uniform(0.5, 2.0, 36)
    Z = random.normal(size=(36, n_columns)) + labels[:, np.newaxis]
    moments = ClassMoments.of(Z, labels, weight, 3)
    rows = moments.project(Z)[0]
    for alpha in (0.0, 0.4, 1.0):
        found = LeaveOneOutDensities(moments, rows, labels, weight).log_densities(alpha, gammas)
        for i in range(36):
            others = np.arange(36) != i
            fold = ClassMoments.of(Z[others], labels[others], weight[others], 3)
            inside, outside = fold.project(Z[[i]])
            expected = log_densities(fold, fold.spectra(alpha), inside, outside, gammas)
            np.testing.assert_allclose(found[:, i], expected[:, 0], rtol=1e-6)


def test_a_splitter_can_request_leave_one_out() -> None:
    X, y = _IRIS[0][::3], _IRIS[1][::3]
    model = RegularizedDiscriminantAnalysis([0.0, 1.0], 0.1, cv=LeaveOneOut()).fit(X, y)
    assert model.plane_ is not None
    one = RegularizedDiscriminantAnalysis(0.0, 0.1)
    error = 1 - cross_val_score(one, X, y, cv=LeaveOneOut()).mean()
    assert model.plane_.mean_error[0, 0] == pytest.approx(error)


def test_the_selected_model_fits_the_classes() -> None:
    """Spheres of equal size call for the linear corner, ellipses of their own for the other."""
    random = np.random.default_rng(2)
    y = np.repeat([0, 1], 100)
    equal = random.normal(size=(200, 10))
    equal[y == 1, 0] += 2.0
    own = random.normal(size=(200, 4))
    own[y == 1, 0] *= 8.0
    own[y == 0, 1] *= 8.0
    grid = [0.0, 0.5, 1.0]
    simple = RegularizedDiscriminantAnalysis(grid, grid, random_state=0).fit(equal, y)
    bent = RegularizedDiscriminantAnalysis(grid, grid, random_state=0).fit(own, y)
    assert simple.alpha_ >= 0.5
    assert bent.alpha_ == 0.0


def test_more_columns_than_rows_are_learned() -> None:
    random = np.random.default_rng(3)
    y = np.arange(60) % 2
    X = random.normal(size=(60, 600))
    X[:, :20] += 1.2 * y[:, np.newaxis]
    model = RegularizedDiscriminantAnalysis(random_state=0).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) >= 0.8


def test_a_class_absent_from_a_fold_counts_as_errors() -> None:
    X, y = _IRIS[0][[0, 1, 2, 3, 50, 51, 52, 53, 100]], np.array([0] * 4 + [1] * 4 + [2])
    model = RegularizedDiscriminantAnalysis(1.0, [0.5, 1.0], cv=LeaveOneOut()).fit(X, y)
    assert model.plane_ is not None
    assert (model.plane_.mean_error >= 1 / 9).all()


def test_invalid_arguments_are_refused() -> None:
    X, y = _IRIS
    with pytest.raises(ValueError, match=r"alpha must hold numbers from 0 to 1, got 1.5"):
        RegularizedDiscriminantAnalysis([0.0, 1.5]).fit(X, y)
    with pytest.raises(ValueError, match="gamma is empty"):
        RegularizedDiscriminantAnalysis(gamma=[]).fit(X, y)
    with pytest.raises(ValueError, match="decrease cv or use more rows"):
        RegularizedDiscriminantAnalysis(cv=200).fit(X, y)
    missing = pd.DataFrame(X, columns=list("abcd"))
    missing.loc[4, "c"] = None
    for learner in (RegularizedDiscriminantAnalysis(), DiagonalLDA()):
        with pytest.raises(ValueError, match="column 'c' is missing in row 4.*impute them"):
            learner.fit(missing, y)


def test_the_grid_is_plotted() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    model = RegularizedDiscriminantAnalysis([0, 1], [0, 0.5, 1], random_state=0).fit(*_IRIS)
    assert model.plane_ is not None
    ax = model.plane_.plot()
    shown = [text.get_text() for text in ax.texts]
    assert shown == [f"{error:.3f}" for error in model.plane_.mean_error.ravel()]
    plt.close("all")
