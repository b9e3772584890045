"""Beside LightGBM and XGBoost: the same first tree and the same loss after every round."""

import numpy as np
import pytest
from tests.parity.boosting_peers import Problem, compare


@pytest.mark.parametrize("seed", range(12))
def test_xgboost_grows_the_same_trees(seed: int) -> None:
    pytest.importorskip("xgboost")
    same, deviations = compare(Problem(seed), "xgboost")
    assert same
    assert np.abs(deviations).max() < 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_lightgbm_grows_the_same_trees(seed: int) -> None:
    """Small trees: among many leaves LightGBM takes other splits now and then."""
    pytest.importorskip("lightgbm")
    same, deviations = compare(Problem(seed), "lightgbm")
    assert same
    assert np.abs(deviations).max() < 1e-3
