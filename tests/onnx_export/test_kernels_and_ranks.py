"""Ranks, kernels, neighbours and linear leaves predict the same in onnxruntime."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC
from tests.onnx_export.test_export import FRAME, KW, NUMBERS, THREE, TWO, Y, check, ort, run

import arboleda as ab
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._preparation import add_normal_quantile

FULL = pd.DataFrame(StandardScaler().fit_transform(NUMBERS.fillna(0.0)), columns=NUMBERS.columns)
FAR = 3.0 * FULL + 0.5


def agrees(model, rows, tolerance=1e-10):
    expected = model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)
    found = run(model, rows)[-1]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_normal_quantiles_have_full_precision() -> None:
    ranks = np.concatenate([np.geomspace(2e-7, 0.5, 500), 1 - np.geomspace(2e-7, 0.5, 500)])
    ranks = np.sort(np.concatenate([ranks, [0.075, 0.5, 0.925, np.nextafter(0.925, 1)]]))
    graph = Graph()
    given = graph.input("X", "float64", 1)
    graph.output("found", add_normal_quantile(given, graph), "float64", [None, 1])
    session = ort.InferenceSession(graph.model("a test").SerializeToString())
    (found,) = session.run(None, {"X": ranks[:, np.newaxis]})
    np.testing.assert_allclose(found[:, 0], norm.ppf(ranks), rtol=1e-14, atol=1e-15)
    (ends,) = session.run(None, {"X": np.array([[0.0], [1.0], [np.nan]])})
    fitted = QuantileTransformer(n_quantiles=3, output_distribution="normal").fit([[0], [1], [2]])
    assert ends[:2] == pytest.approx(fitted.transform([[0.0], [2.0]]), rel=1e-14)
    assert np.isnan(ends[2, 0])


@pytest.mark.parametrize("distribution", ["uniform", "normal"])
@pytest.mark.parametrize("n_quantiles", [2, 10, 300])
def test_rank_transforms_are_exported(distribution: str, n_quantiles: int) -> None:
    draw = np.random.default_rng(0)
    # Values of many rows, values of few, one value alone, and few values far apart.
    x = np.column_stack(
        [
            draw.normal(size=300),
            draw.integers(0, 4, 300),
            np.full(300, 2.5),
            np.exp(draw.integers(0, 30, 300)),
        ]
    )
    ranks = QuantileTransformer(n_quantiles=n_quantiles, output_distribution=distribution)
    model = make_pipeline(ranks, Ridge(1e-3)).fit(x, x[:, 0] + x[:, 1])
    for rows in (x, x + 0.25, 10 * x - 3.0, np.nextafter(x, np.inf)):
        agrees(model, pd.DataFrame(rows))


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_are_exported(weights: str, p: int) -> None:
    # A row that was learned from meets itself: no distance is 0 but its own.
    for rows in (FULL, FAR):
        agrees(KNeighborsRegressor(7, weights=weights, p=p).fit(FULL, Y), rows)
        for target in (TWO, THREE):
            agrees(KNeighborsClassifier(7, weights=weights, p=p).fit(FULL, target), rows)
    agrees(KNeighborsRegressor(300, weights=weights, p=p).fit(FULL, Y), FAR)


def test_ties_between_neighbours_are_exported() -> None:
    x = np.repeat(np.arange(4.0), 3)[:, np.newaxis]
    y = np.arange(12.0)
    model = KNeighborsRegressor(5, weights="distance").fit(x, y)
    (found,) = run(model, pd.DataFrame([[1.0], [1.5]]))
    assert found[0] == pytest.approx(4.0)  # the mean of 3, 4 and 5
    assert found[1] == pytest.approx(model.predict([[1.5]])[0], abs=1.0)  # five of six are nearest


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize(
    "machine",
    [SVC(C=10.0), SVC(gamma=0.3), LinearSVC(), LogisticRegression(), FrozenEstimator],
    ids=["svc", "gamma", "linear", "logistic", "frozen"],
)
def test_calibrated_svms_are_exported(target, ensemble, machine) -> None:
    if machine is FrozenEstimator:
        machine = FrozenEstimator(SVC().fit(FULL, target))
    model = CalibratedClassifierCV(machine, ensemble=ensemble, cv=3).fit(FULL, target)
    agrees(model, FULL)
    agrees(model, FAR)


def test_an_svm_of_many_classes_is_exported() -> None:
    draw = np.random.default_rng(1)
    x, y = draw.normal(size=(400, 3)), draw.integers(0, 7, 400)
    x += y[:, np.newaxis] * [1.0, -1.0, 0.5]
    model = CalibratedClassifierCV(SVC(C=10.0), ensemble=False, cv=3).fit(x, y)
    agrees(model, pd.DataFrame(x))
    agrees(model, pd.DataFrame(100 * x))  # no class has a share distinguishable from 0


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "machine",
    [
        SVC(C=10.0),
        LinearSVC(),
        RidgeClassifier(),
        make_pipeline(StandardScaler(), Nystroem(n_components=30, random_state=0), LinearSVC()),
    ],
    ids=["svc", "linear", "ridge", "mapped"],
)
def test_decision_values_of_svms_are_exported(target, machine) -> None:
    model = machine.fit(FULL, target)
    for rows in (FULL, FAR):
        label, scores = run(model, rows)
        assert label.tolist() == model.predict(rows).tolist()
        expected = model.decision_function(rows).reshape(len(rows), -1)
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


def test_tied_votes_choose_the_first_class() -> None:
    """Of three classes each may have one vote: the scores would choose another than the machine."""
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=(200, 2)), draw.integers(0, 3, 200)
    model = SVC(C=100.0, gamma=5.0).fit(x, y)
    rows = draw.normal(scale=2.0, size=(3_000, 2))
    expected = model.predict(rows)
    assert (expected != model.decision_function(rows).argmax(axis=1)).any()
    for exported in (model, FrozenEstimator(model)):
        label, _ = run(exported, pd.DataFrame(rows))
        assert (label == expected).all()
    decided = SVC(C=100.0, gamma=5.0, break_ties=True).fit(x, y)
    label, _ = run(decided, pd.DataFrame(rows))
    assert (label == decided.predict(rows)).all()


def test_kernel_values_match() -> None:
    scaled = TransformedTargetRegressor(SVR(C=10.0), transformer=StandardScaler())
    for model in (SVR(), SVR(gamma=0.2), scaled, KernelRidge(kernel="rbf", alpha=0.1)):
        agrees(model.fit(FULL, Y), FAR)
    agrees(make_pipeline(Nystroem(n_components=30, random_state=0), Ridge()).fit(FULL, Y), FAR)


@pytest.mark.parametrize("n_terms", [0.0, 1e6], ids=["linear", "flat"])
def test_linear_leaves_are_exported(n_terms: float) -> None:
    options = {"max_iter": 20, "linear_leaves": True, "linear_l2": n_terms, **KW}
    # Numbers with missing values, and beyond what the leaves were fitted on.
    for rows in (NUMBERS, 5 * NUMBERS, NUMBERS.fillna(0.0)):
        agrees(ab.HistGradientBoostingRegressor(**options).fit(NUMBERS, Y), rows)
    for target in (TWO, THREE):
        check(ab.HistGradientBoostingClassifier(**options).fit(NUMBERS, target), NUMBERS)
    check(ab.HistGradientBoostingClassifier(**options).fit(FRAME, THREE), FRAME)


REFUSED = {
    "kernel 'poly' of this SVR cannot be exported": (SVR(kernel="poly"), Y),
    "metric='chebyshev' and weights='uniform' cannot": (KNeighborsRegressor(metric="chebyshev"), Y),
    "several classification targets": (KNeighborsClassifier(), np.column_stack([TWO, TWO])),
    "several labels per row": (
        RidgeClassifier(),
        np.column_stack([TWO[0] == TWO, THREE[0] == THREE]).astype(int),
    ),
    "scores of NuSVC cannot be exported": (NuSVC(), TWO),
    "scores of GaussianNB cannot be exported": (CalibratedClassifierCV(GaussianNB(), cv=3), TWO),
    "method='isotonic' cannot": (CalibratedClassifierCV(SVC(), method="isotonic", cv=3), TWO),
    "decision_function_shape='ovo' cannot": (
        CalibratedClassifierCV(SVC(decision_function_shape="ovo"), cv=3),
        THREE,
    ),
}


@pytest.mark.parametrize("expected", REFUSED)
def test_unsupported_models_are_refused(expected: str) -> None:
    model, y = REFUSED[expected]
    model.fit(FULL, y)
    with pytest.raises((TypeError, ValueError), match=expected):
        ab.to_onnx(model)
