"""Bayes' rule with kernel densities: scikit-learn's densities, bandwidths, what lies far away."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.datasets import load_iris, make_moons
from sklearn.neighbors import KernelDensity

from arboleda import KernelDensityClassifier
from arboleda.learners._kernel_density_classifier import bandwidth_of_unit_variance, log_density

_KERNELS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
_X, _Y = load_iris(return_X_y=True)


def naive_posteriors(X: Any, y: Any, weight: Any, new: Any, **options: Any) -> Any:
    """Bayes' rule with scikit-learn's density of each class."""
    joint = []
    for k in np.unique(y):
        density = KernelDensity(**options).fit(X[y == k], sample_weight=weight[y == k])
        joint.append(density.score_samples(new) + math.log(weight[y == k].sum() / weight.sum()))
    log_joint = np.array(joint).T
    p = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kernel", _KERNELS)
@pytest.mark.parametrize("bandwidth", [1.7137, "scott", "silverman"])
def test_it_matches_bayes_rule_with_scikit_learns_densities(kernel: Any, bandwidth: Any) -> None:
    weight = np.random.default_rng(0).integers(1, 4, len(_Y)).astype(float)
    if isinstance(bandwidth, str):
        weight[:] = 1.0  # scikit-learn's rules count rows
    X = _X[:, 2:3] if kernel == "cosine" else _X  # scikit-learn's cosine is NaN in four dimensions
    model = KernelDensityClassifier(bandwidth=bandwidth, kernel=kernel, standardize=False)
    model.fit(X, _Y, weight)
    expected = naive_posteriors(X, _Y, weight, X, kernel=kernel, bandwidth=bandwidth)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", _KERNELS)
def test_a_density_has_the_same_mass_for_any_bandwidth(kernel: Any) -> None:
    """The factor is 1 / (N h^d), once: another 1 / h would show here."""

    def mass(h: float) -> float:
        known, weight = np.array([[0.0], [1.0]]), np.ones(2)

        def density(x: float) -> float:
            return math.exp(log_density(np.array([[x]]), known, weight, h, kernel)[0])

        edges = [-h, 0.0, h, 1.0 - h, 1.0, 1.0 + h]
        return float(quad(density, -30.0, 31.0, points=edges, limit=400)[0])

    assert mass(0.5) == pytest.approx(mass(2.0), rel=1e-5)


@pytest.mark.parametrize("kernel", [kernel for kernel in _KERNELS if kernel != "cosine"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_variance_of_kernels_is_one(kernel: Any, d: int) -> None:
    h = bandwidth_of_unit_variance(kernel, d)
    known, weight = np.zeros((1, d)), np.ones(1)

    def shell(r: float, power: int) -> float:
        x = np.zeros((1, d))
        x[0, 0] = r
        return r**power * math.exp(log_density(x, known, weight, h, kernel)[0])

    end = h if kernel in ("tophat", "epanechnikov", "linear") else 60.0
    square = quad(shell, 0, end, args=(d + 1,))[0] / quad(shell, 0, end, args=(d - 1,))[0]
    assert square / d == pytest.approx(1.0, rel=1e-5)


def test_the_bandwidth_maximizes_the_likelihood() -> None:
    """Each row left out in turn, with scikit-learn's density of the others."""
    X, y = _X[:60:2, :2] + np.arange(60).reshape(30, 2) * 1e-6, np.repeat([0, 1], 15)
    model = KernelDensityClassifier(standardize=False).fit(X, y)
    pooled = math.sqrt(np.mean([X[y == k].var(axis=0) for k in (0, 1)]))
    for k in (0, 1):
        rows = X[y == k]
        scores = []
        for h in pooled * np.geomspace(0.02, 4.0, 17):
            scores.append(
                sum(
                    KernelDensity(bandwidth=h).fit(np.delete(rows, i, 0)).score(rows[[i]])
                    for i in range(len(rows))
                )
            )
        best = pooled * np.geomspace(0.02, 4.0, 17)[int(np.argmax(scores))]
        assert model.bandwidth_[k] == pytest.approx(best)


def test_repeated_rows_do_not_narrow_the_bandwidth() -> None:
    once = KernelDensityClassifier().fit(_X, _Y)
    twice = KernelDensityClassifier().fit(np.r_[_X, _X], np.r_[_Y, _Y])
    weighted = KernelDensityClassifier().fit(_X, _Y, np.full(len(_Y), 2.0))
    np.testing.assert_allclose(twice.bandwidth_, once.bandwidth_)
    np.testing.assert_allclose(weighted.predict_proba(_X), once.predict_proba(_X))
    np.testing.assert_allclose(twice.predict_proba(_X), once.predict_proba(_X))


def test_curved_classes_are_learned() -> None:
    X, y = make_moons(600, noise=0.15, random_state=0)
    for kernel in ("gaussian", "epanechnikov"):
        model = KernelDensityClassifier(kernel=kernel).fit(X[:300], y[:300])
        assert model.score(X[300:], y[300:]) >= 0.97


def test_units_do_not_matter() -> None:
    units = np.array([1e-6, 1.0, 1e3, 1e9])
    np.testing.assert_allclose(
        KernelDensityClassifier().fit(_X * units + 5, _Y).predict_proba(_X * units + 5),
        KernelDensityClassifier().fit(_X, _Y).predict_proba(_X),
        atol=1e-6,
    )


@pytest.mark.parametrize("kernel", _KERNELS)
def test_rows_far_from_all_others_are_predicted(kernel: Any) -> None:
    model = KernelDensityClassifier(kernel=kernel).fit(_X, _Y)
    far = np.array([[1e308] * 4, [-1e200, 1e5, 0, 0], [50.0] * 4])
    p = model.predict_proba(far)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    if kernel in ("gaussian", "exponential"):
        assert model.predict([[50.0] * 4]) == [2]  # of the largest flowers
    else:
        np.testing.assert_allclose(p[2], model.class_prior_)


def test_the_bandwidth_of_large_classes_uses_a_subset() -> None:
    X = np.random.default_rng(1).normal(size=(1600, 1))
    model = KernelDensityClassifier().fit(X, np.arange(1600) % 2)
    assert ((model.bandwidth_ > 0.1) & (model.bandwidth_ < 0.5)).all()
