"""The error rates of ForestSelector in hundreds of runs."""

import numpy as np
import pytest
from tests.features.false_positives import selections

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_without_information_both_error_rates_match_the_level(task: str) -> None:
    n_runs, alpha = 400, 0.1
    chosen = selections(task, signal=False, n_runs=n_runs, alpha=alpha, n_permutations=19)
    error = np.sqrt(alpha * (1 - alpha) / n_runs)
    assert (np.abs(chosen[:, 0].mean(axis=0) - alpha) < 4 * error).all()
    assert abs(chosen[:, 1].any(axis=1).mean() - alpha) < 4 * error


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_beside_information_useless_columns_stay_below_the_level(task: str) -> None:
    n_runs, alpha = 300, 0.1
    chosen = selections(task, signal=True, n_runs=n_runs, alpha=alpha, n_permutations=19)
    error = np.sqrt(alpha * (1 - alpha) / n_runs)
    assert (chosen[:, 0, 1:].mean(axis=0) < alpha + 3 * error).all()
    assert chosen[:, 1, 1:].any(axis=1).mean() < alpha + 3 * error
    assert chosen[:, 1, 0].mean() > 0.95
