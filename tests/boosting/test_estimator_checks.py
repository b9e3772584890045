"""scikit-learn's own checks of an estimator; every failure that is expected has its reason."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import (
    BoostingClassifier,
    BoostingRegressor,
    DistributionalBoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRanker,
    HistGradientBoostingRegressor,
)

# Few rounds: every check fits several times. Rows in a leaf are not counted, so that a row of
# weight 2 is as two rows.
_EXACT = {"n_estimators": 5, "n_jobs": 1}
_HIST = {"max_iter": 5, "min_samples_leaf": 1, "n_jobs": 1}
_CHOSEN = {"learning_rate": 0.5, "n_iter_no_change": 3, "min_samples_leaf": 1, "n_jobs": 1}
_CONFIGURATIONS = [
    BoostingClassifier("quick", random_state=0, **_CHOSEN),
    BoostingRegressor("quick", random_state=0, **_CHOSEN),
    BoostingRegressor(max_leaf_nodes=4, random_state=0, **_CHOSEN),
    GradientBoostingClassifier(**_EXACT),
    GradientBoostingClassifier(n_estimators=3, max_leaf_nodes=4, n_jobs=2),
    GradientBoostingClassifier(n_iter_no_change=3, subsample=0.7, random_state=0, **_EXACT),
    GradientBoostingRegressor(**_EXACT),
    GradientBoostingRegressor(
        loss="huber", learning_rate=0.5, n_estimators=4, max_features="sqrt", random_state=1
    ),
    HistGradientBoostingClassifier(**_HIST),
    HistGradientBoostingClassifier(early_stopping=True, random_state=0, **_HIST),
    HistGradientBoostingClassifier(growth="symmetric", max_depth=3, **_HIST),
    HistGradientBoostingRegressor(**_HIST),
    HistGradientBoostingRegressor(
        loss="absolute_error", growth="level_wise", learning_rate=0.5, **_HIST
    ),
    DistributionalBoostingRegressor(learning_rate=0.5, subsample=1.0, **_HIST),
    HistGradientBoostingRanker(**_HIST),
    HistGradientBoostingRanker("xe_ndcg", random_state=0, **_HIST),
    HistGradientBoostingRegressor(subsample=0.5, sampling="gradient", random_state=0, **_HIST),
]

_WEIGHTS = tuple(f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))


def expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, HistGradientBoostingRanker):
        reason = "a row written twice has two ranks in its query, a row of weight 2 one"
        return dict.fromkeys(_WEIGHTS, reason)
    is_automatic = isinstance(estimator, BoostingClassifier | BoostingRegressor)
    stops = getattr(estimator, "early_stopping", False) is True or bool(
        getattr(estimator, "n_iter_no_change", None) and hasattr(estimator, "n_estimators")
    )
    if is_automatic or stops or estimator.subsample < 1.0:
        reason = (
            "whole rows are drawn or set aside: of a row written twice one copy may be, of a row "
            "of weight 2 both or neither"
        )
        return dict.fromkeys(_WEIGHTS, reason)
    return {}


@pytest.mark.filterwarnings("ignore:early stopping kept no tree")
@parametrize_with_checks(
    _CONFIGURATIONS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
