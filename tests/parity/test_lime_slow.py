"""LIME beside the `lime` package (its 0.2.0.1): like with like, then the course's example.

Both draw columns independently and have the same kernel. Of categories both draw the same, so that
with all columns, as many samples and least squares in both, the weights are two estimates of the
same numbers: they are compared by their standard errors.

On the course's example, as each is by itself, they differ in where quartiles lie between values, in
what is drawn within a bin (there a truncated normal, here the column's own values), in the linear
model (there ridge with alpha 1, here least squares), in how ten columns are chosen (there the
largest weights, here forward selection), and in that here five samples are taken together. Signs
and sizes are compared; the order is not, beyond what follows from the sizes, since weights that
differ by less than what the packages do change places.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from arboleda import explain

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
_SEEDS = range(8)


@pytest.fixture(scope="module")
def example() -> Iterator[tuple[Any, Any, Any, Any]]:
    """The model of the example, its training and test rows, and the package."""
    package = pytest.importorskip("lime.lime_tabular")
    data = load_breast_cancer()
    X_train, X_test, y_train, _ = train_test_split(data.data, data.target, random_state=0)
    model = GradientBoostingClassifier(random_state=0, max_depth=1).fit(X_train, y_train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the package's own age
        yield model, X_train, X_test, package


@pytest.mark.parametrize("row", [100, 10])
def test_weights_match_on_the_same_samples(example: tuple[Any, Any, Any, Any], row: int) -> None:
    _, X_train, X_test, package = example
    edges = np.quantile(X_train, (0.25, 0.5, 0.75), axis=0, method="inverted_cdf")
    train, test = ((X[np.newaxis] > edges[:, np.newaxis]).sum(axis=0) for X in (X_train, X_test))
    y_train = train_test_split(load_breast_cancer().target, random_state=0)[0]
    model = GradientBoostingClassifier(random_state=0, max_depth=1).fit(train, y_train)
    columns = list(range(train.shape[1]))
    theirs, ours = np.zeros((2, len(_SEEDS), len(columns)))
    for seed in _SEEDS:
        peer = package.LimeTabularExplainer(
            train, categorical_features=columns, discretize_continuous=False, random_state=seed
        ).explain_instance(
            test[row], model.predict_proba, num_features=30, model_regressor=LinearRegression()
        )
        for j, weight in peer.as_map()[1]:
            theirs[seed, j] = weight
        explainer = explain.lime(model, train, categorical_features=columns, random_state=seed)
        found = explainer.explain(test[row], output=1, n_features=30, n_repeats=1)
        ours[seed, found.features] = found.weights
    apart = ours.mean(axis=0) - theirs.mean(axis=0)
    variance = (ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / len(_SEEDS)
    assert np.sqrt(variance).max() < 0.01  # so that what follows could fail
    scores = apart / np.sqrt(variance)
    assert np.abs(scores).max() < 4.5  # of 14 degrees of freedom: 1 of 2,000 by chance
    assert np.sqrt((scores**2).mean()) < 1.5
    assert np.corrcoef(ours.mean(axis=0), theirs.mean(axis=0))[0, 1] > 0.99


@pytest.mark.parametrize("row", [100, 10])
def test_weights_agree_with_the_package(example: tuple[Any, Any, Any, Any], row: int) -> None:
    model, X_train, X_test, package = example
    theirs: dict[int, list[float]] = defaultdict(list)
    ours: dict[int, list[float]] = defaultdict(list)
    for seed in _SEEDS:
        peer = package.LimeTabularExplainer(X_train, mode="classification", random_state=seed)
        for j, weight in peer.explain_instance(X_test[row], model.predict_proba).as_map()[1]:
            theirs[j].append(weight)
        found = explain.lime(model, X_train, random_state=seed).explain(X_test[row], output=1)
        for j, weight in zip(found.features.tolist(), found.weights, strict=True):
            ours[j].append(weight)
    always = [j for j in theirs if len(theirs[j]) == len(_SEEDS)]
    assert len(always) >= 8
    for j in always:  # columns of every explanation there are in every one here, of one sign
        assert len(ours[j]) == len(_SEEDS)
        assert set(np.sign(ours[j])) == set(np.sign(theirs[j]))
    for j in ours.keys() & theirs.keys():
        assert np.sign(np.mean(ours[j])) == np.sign(np.mean(theirs[j]))
    means = np.array([[np.mean(ours[j]), np.mean(theirs[j])] for j in always])
    np.testing.assert_allclose(means[:, 0], means[:, 1], atol=0.03)


def test_fidelity_agrees_with_the_package(example: tuple[Any, Any, Any, Any]) -> None:
    model, X_train, X_test, package = example
    peer = package.LimeTabularExplainer(X_train, mode="classification", random_state=0)
    for row in (100, 10, 0, 50):
        score = peer.explain_instance(X_test[row], model.predict_proba).score
        found = explain.lime(model, X_train, random_state=0).explain(X_test[row], output=1)
        assert found.fidelity == pytest.approx(score, abs=0.06)
