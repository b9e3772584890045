"""BARTClassifier: properties of its posterior draws."""

import pickle
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr

import arboleda
from arboleda import BARTClassifier

Floats = npt.NDArray[np.float64]

pytestmark = pytest.mark.filterwarnings("ignore:the chains have not converged")


def probit_rows(n: int, seed: int) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Rows, probabilities of class 1, and classes."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 4))
    p = ndtr(1.5 * X[:, 0] + np.where(X[:, 1] > 0, 0.8, -0.8))
    return X, p, (random.random(n) < p).astype(np.int64)


@pytest.fixture(scope="module")
def fitted() -> BARTClassifier:
    X, _, y = probit_rows(1000, 0)
    return BARTClassifier(n_estimators=100, n_draws=400, random_state=0).fit(X, y)


def test_a_known_probit_is_learned(fitted: BARTClassifier) -> None:
    X, p, y = probit_rows(2000, 1)
    found = fitted.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.sqrt(np.mean((found[:, 1] - p) ** 2)) < 0.1
    # Calibrated: in each tenth of the predicted probabilities the share of class 1 is about it.
    order = np.argsort(found[:, 1])
    for part in np.array_split(order, 10):
        mean = found[part, 1].mean()
        assert abs(y[part].mean() - mean) < 4 * np.sqrt(mean * (1 - mean) / part.size) + 0.03
    low, high = fitted.predict_interval(X, 0.9)[:, 1].T
    assert 0.7 < ((low <= p) & (p <= high)).mean() < 0.99


def test_draws_and_means_agree(fitted: BARTClassifier) -> None:
    X = probit_rows(30, 2)[0]
    draws = fitted.sample_posterior(X)
    assert draws.shape == (400, 30, 2)
    np.testing.assert_allclose(draws.mean(axis=0), fitted.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict_proba(X).argmax(axis=1))
    intervals = fitted.predict_interval(X, 0.5)
    np.testing.assert_allclose(intervals[..., 0], np.quantile(draws, 0.25, axis=0))
    assert list(fitted.r_hat_) == ["mean_latent of 1"]


def test_several_classes_are_learned() -> None:
    random = np.random.default_rng(0)
    X = random.uniform(size=(900, 2))
    shares = np.array([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.1, 0.8, 0.1]])
    which = (X[:, 0] * 3).astype(int)
    labels = np.array(["b", "c", "a"])
    y = labels[[random.choice(3, p=shares[w]) for w in which]]
    model = BARTClassifier(n_estimators=30, n_draws=200, n_burn_in=100, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    # The steps at 1/3 and 2/3 are learned, so that rows beside them may be off.
    off = np.abs(p - shares[which][:, [2, 0, 1]])
    assert np.quantile(off, 0.98) < 0.25
    assert off.mean() < 0.06
    assert len(model.posteriors_) == 2
    assert model.sample_posterior(X[:5]).shape == (200, 5, 3)
    assert model.predict_interval(X[:5]).shape == (5, 3, 2)


def test_a_loaded_model_predicts_the_same_bits(tmp_path: Path) -> None:
    X, _, y = probit_rows(200, 3)
    X[::5, 2] = np.nan
    y[:20] = 2
    contents = []
    for n_jobs in (1, 2):
        model = BARTClassifier(
            n_estimators=20, n_draws=40, n_burn_in=20, random_state=0, n_jobs=n_jobs
        ).fit(X, y)
        path = tmp_path / "model.arboleda"
        model.set_params(n_jobs=None).save(path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    for other in (arboleda.load(path), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert other.acceptance_rates_ == model.acceptance_rates_


def test_one_class_is_predicted_with_certainty() -> None:
    X = probit_rows(20, 4)[0]
    model = BARTClassifier().fit(X, ["only"] * 20)
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((20, 1)))
    assert model.predict(X[:1]).tolist() == ["only"]
    assert not model.feature_importances_.any()
    assert pickle.loads(pickle.dumps(model)).predict(X[:1]).tolist() == ["only"]


def test_weights_are_refused() -> None:
    X, _, y = probit_rows(20, 5)
    with pytest.raises(TypeError, match="sample_weight"):
        BARTClassifier().fit(X, y, sample_weight=np.ones(20))  # type: ignore[call-arg]
