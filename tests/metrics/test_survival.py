"""Metrics of time to an event: definitions, and the numbers of scikit-survival."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from arboleda.metrics import (
    concordance_index,
    cumulative_dynamic_auc,
    d_calibration,
    integrated_survival_brier_score,
    survival_brier_score,
    survival_table,
    uno_concordance_index,
)

DTYPE = [("event", "?"), ("time", "f8")]
TIMES = np.array([2.0, 5.0, 9.0])
TAU = 12.0

Floats = npt.NDArray[np.float64]


def made(seed: int, n: int = 60) -> tuple[npt.NDArray[Any], Floats, Floats]:
    """Return times with ties, risks with ties, and survival at TIMES."""
    rng = np.random.default_rng(seed)
    y = np.empty(n, dtype=DTYPE)
    y["time"] = np.ceil(rng.exponential(10, n) * 2) / 2
    y["event"] = rng.random(n) < 0.6
    risk = np.round(-y["time"] + rng.normal(0, 8, n))
    return y, risk, np.exp(-np.outer(np.exp(risk / 20) / 12, TIMES))


def observed(seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats, Floats]:
    """Return training times, and rows within their range."""
    y, risk, survival = made(seed)
    y_train = made(100 + seed, 200)[0]
    inside = y["time"] < y_train["time"].max()
    return y_train, y[inside], risk[inside], survival[inside]


# By scikit-survival 0.28: concordance_index_censored and concordance_index_ipcw (tau=TAU) of
# made(seed), cumulative_dynamic_auc, brier_score and integrated_brier_score of observed(seed).
SKSURV: dict[int, dict[str, Any]] = {
    0: {
        "harrell": 0.8212090163934426,
        "uno": 0.8167301471857291,
        "auc": [0.9080292737893327, 0.8711183504422525, 0.9160337323689761],
        "mean_auc": 0.8975501576408186,
        "brier": [0.08191452507468701, 0.14095016477598787, 0.15366593283958557],
        "integrated": 0.13193274714387987,
    },
    2: {
        "harrell": 0.7950897072710104,
        "uno": 0.7887231828774935,
        "auc": [0.8309290813639332, 0.9342353288538556, 0.837572573154854],
        "mean_auc": 0.8640006834718179,
        "brier": [0.06216995271641866, 0.12931238737898842, 0.19393598818976324],
        "integrated": 0.13338860875437342,
    },
}


def compute(seed: int) -> dict[str, Any]:
    y, risk, _ = made(seed)
    y_train, rows, own_risk, survival = observed(seed)
    areas, mean = cumulative_dynamic_auc(y_train, rows, own_risk, TIMES)
    return {
        "harrell": concordance_index(y, risk),
        "uno": uno_concordance_index(y_train, y, risk, tau=TAU),
        "auc": areas,
        "mean_auc": mean,
        "brier": survival_brier_score(y_train, rows, survival, TIMES),
        "integrated": integrated_survival_brier_score(y_train, rows, survival, TIMES),
    }


@pytest.mark.parametrize("seed", SKSURV)
def test_values_of_scikit_survival(seed: int) -> None:
    for name, value in compute(seed).items():
        np.testing.assert_allclose(value, SKSURV[seed][name], rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("seed", range(5, 12))
def test_scikit_survival_itself(seed: int) -> None:
    sksurv = pytest.importorskip("sksurv.metrics", reason="scikit-survival is not installed")
    y, risk, _ = made(seed)
    y_train, rows, own_risk, survival = observed(seed)
    areas, mean = sksurv.cumulative_dynamic_auc(y_train, rows, own_risk, TIMES)
    theirs = {
        "harrell": sksurv.concordance_index_censored(y["event"], y["time"], risk)[0],
        "uno": sksurv.concordance_index_ipcw(y_train, y, risk, tau=TAU)[0],
        "auc": areas,
        "mean_auc": mean,
        "brier": sksurv.brier_score(y_train, rows, survival, TIMES)[1],
        "integrated": sksurv.integrated_brier_score(y_train, rows, survival, TIMES),
    }
    for name, value in compute(seed).items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("seed", range(4))
def test_concordance_by_its_definition(seed: int) -> None:
    y, risk, _ = made(seed, 25)
    weight = np.random.default_rng(seed).integers(0, 3, 25).astype(float)
    concordant = comparable = 0.0
    for i in range(25):
        for j in range(25):
            later = y["time"][j] > y["time"][i]
            censored_then = y["time"][j] == y["time"][i] and not y["event"][j]
            if y["event"][i] and (later or censored_then):
                w = weight[i] * weight[j]
                comparable += w
                concordant += w * (risk[i] > risk[j]) + 0.5 * w * (risk[i] == risk[j])
    value = concordance_index(y, risk, sample_weight=weight)
    assert value == pytest.approx(concordant / comparable, rel=1e-12)


def test_invariances_of_the_concordance() -> None:
    y, risk, _ = made(0)
    value = concordance_index(y, risk)
    assert concordance_index(y, np.exp(risk / 10)) == pytest.approx(value)
    assert concordance_index(y, -risk) == pytest.approx(1.0 - value)
    assert concordance_index(y, np.zeros(len(y))) == 0.5
    with pytest.raises(ValueError, match="no pair of rows is comparable"):
        concordance_index(y[:1], risk[:1])
    with pytest.raises(ValueError, match="risk is nan in row 3"):
        concordance_index(y, np.where(np.arange(60) == 3, np.nan, risk))


def test_brier_score_without_censoring_is_the_mean_squared_error() -> None:
    y, _, survival = made(1)
    y["event"] = True
    score = survival_brier_score(y, y, survival, TIMES)
    alive = y["time"][:, np.newaxis] > TIMES
    np.testing.assert_allclose(score, ((survival - alive) ** 2).mean(axis=0))


def test_d_calibration() -> None:
    rng = np.random.default_rng(0)
    rate = rng.exponential(1.0, 4000)
    time, censored_at = rng.exponential(1 / rate), rng.exponential(1.0, 4000)
    y = np.empty(4000, dtype=DTYPE)
    y["event"], y["time"] = time <= censored_at, np.minimum(time, censored_at)
    true = d_calibration(y, np.exp(-rate * y["time"]))
    assert true.p_value > 0.01
    assert true.shares.sum() == pytest.approx(1.0)
    wrong = d_calibration(y, np.exp(-2 * rate * y["time"]))
    assert wrong.p_value < 1e-6
    # Censored at 0.25: all in the lower half; at 0.75: two thirds of it in the lower half.
    two = np.array([(False, 1.0), (False, 1.0)], dtype=DTYPE)
    np.testing.assert_allclose(d_calibration(two, [0.25, 0.75], n_bins=2).shares, [5 / 6, 1 / 6])


def test_table() -> None:
    y_train, y, risk, survival = observed(0)
    table = survival_table(y_train, y, risk, survival, TIMES)
    assert table.metrics["harrell_c"] == concordance_index(y, risk)
    np.testing.assert_allclose(table.brier, SKSURV[0]["brier"], rtol=1e-9)
    np.testing.assert_allclose(table.auc, SKSURV[0]["auc"], rtol=1e-9)
    assert table.metrics["integrated_brier"] == pytest.approx(SKSURV[0]["integrated"])
    assert table.n_events == y["event"].sum()
    assert table.to_frame().loc["mean_auc", "value"] == pytest.approx(SKSURV[0]["mean_auc"])
    assert len(table.plot().lines) == 2
    short = survival_table(y_train, y, risk)
    assert short.metrics["integrated_brier"] is None
    assert len(short.times) == 0


def test_the_table_leaves_out_times_that_nobody_is_observed_at() -> None:
    y, risk, survival = made(0)
    y_train = y[y["time"] < 8.0]
    table = survival_table(y_train, y, risk, survival, TIMES)
    assert table.times.tolist() == [2.0, 5.0]
    assert table.metrics["uno_c"] is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": [5.0, 2.0, 9.0]}, "ascending"),
        ({"times": [2.0, 5.0, 900.0]}, "only observed from"),
        ({"survival": np.ones((3, 3))}, "shape"),
        ({"survival": np.full((60, 3), 1.5)}, "between 0 and 1"),
    ],
)
def test_messages(change: dict[str, Any], message: str) -> None:
    y, _, survival = made(0)
    with pytest.raises(ValueError, match=message):
        survival_brier_score(y, y, **{"survival": survival, "times": TIMES, **change})
