"""ForestSelector: the error rates it promises, what it finds, and what it takes."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from tests.features.false_positives import selections

from arboleda import (
    ExtraTreesClassifier,
    ForestSelector,
    RandomForestClassifier,
    RandomForestRegressor,
)

Array = npt.NDArray[Any]


def small(task: str = "classification", **parameters: Any) -> ForestSelector:
    classes = task == "classification"
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(20, n_jobs=1)
    return ForestSelector(forest, **{"n_permutations": 19, "random_state": 0, **parameters})


def table(n_rows: int = 120) -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, 6))
    return X, 2 * X[:, 1] + 2 * X[:, 4] + 0.3 * random.standard_normal(n_rows)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_without_information_the_error_rates_are_kept(task: str) -> None:
    """Three standard errors of 25 runs; the slow tests look closer."""
    chosen = selections(task, signal=False, n_runs=25, alpha=0.2, n_permutations=9)
    assert chosen[:, 0].mean() < 0.2 + 3 * np.sqrt(0.16 / 25)
    assert chosen[:, 1].any(axis=1).mean() < 0.2 + 3 * np.sqrt(0.16 / 25)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_informative_columns_are_found_beside_useless_ones(task: str) -> None:
    X, y = table()
    selector = small(task).fit(X, y > 0 if task == "classification" else y)
    assert selector.get_support(indices=True).tolist() == [1, 4]
    assert selector.task_ == task
    assert selector.adjusted_pvalues_[1] == 0.05
    assert (selector.adjusted_pvalues_ >= selector.pvalues_).all()


def test_attributes_match_the_forests() -> None:
    X, y = table()
    selector = small("regression", n_permutations=3, alpha=0.5).fit(X, y)
    seeds = np.random.RandomState(0)
    forest = RandomForestRegressor(20, random_state=seeds.randint(np.iinfo(np.int32).max))
    seen = forest.fit(X, y).oob_permutation_importance(X, y).mean
    np.testing.assert_array_equal(selector.importances_, seen)
    permuted = seeds.permutation(y)
    forest = RandomForestRegressor(20, random_state=seeds.randint(np.iinfo(np.int32).max))
    null = forest.fit(X, permuted).oob_permutation_importance(X, permuted).mean
    np.testing.assert_array_equal(selector.null_importances_[0], null)
    assert selector.null_importances_.shape == (3, 6)


def test_the_same_seed_gives_the_same_selection_on_any_number_of_threads() -> None:
    X, y = table()
    fits = [
        ForestSelector(
            RandomForestRegressor(10, n_jobs=jobs), n_permutations=4, alpha=0.5, random_state=seed
        ).fit(X, y)
        for jobs, seed in ((1, 0), (2, 0), (1, 1))
    ]
    np.testing.assert_array_equal(fits[0].null_importances_, fits[1].null_importances_)
    assert (fits[0].null_importances_ != fits[2].null_importances_).any()


def test_the_task_comes_from_the_forest_the_parameter_or_the_target() -> None:
    X, y = table()
    few: dict[str, Any] = {"n_permutations": 1, "alpha": 1.0, "random_state": 0}
    assert ForestSelector(**few).fit(X, y).task_ == "regression"
    assert ForestSelector(**few).fit(X, y > 0).task_ == "classification"
    assert ForestSelector(**few, task="regression").fit(X, y.round()).task_ == "regression"
    by_forest = ForestSelector(ExtraTreesClassifier(5, bootstrap=True), **few)
    assert by_forest.fit(X, y > 0).task_ == "classification"
    with pytest.raises(ValueError, match="Unknown label type"):
        by_forest.fit(X, y)


def test_frames_with_categories_and_missing_values_are_supported() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"noise": random.standard_normal(150), "city": random.choice(["a", "b", "c"], 150)}
    )
    frame.loc[::5, "noise"] = np.nan
    y = np.where(frame["city"] == "b", "yes", "no")
    selector = small().fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["city"]
    pd.testing.assert_frame_equal(selector.transform(frame), frame[["city"]])
    pipeline = make_pipeline(small(), RandomForestClassifier(10, random_state=0))
    assert pipeline.fit(frame, y).score(frame, y) == 1.0


def test_sparse_tables_are_supported() -> None:
    random = np.random.default_rng(2)
    X = random.poisson(0.6, (150, 5)).astype(float)
    y = X[:, 3] > 0
    dense, sparse = small().fit(X, y), small().fit(csr_array(X), y)
    np.testing.assert_array_equal(dense.importances_, sparse.importances_)
    assert sparse.get_support(indices=True).tolist() == [3]


def test_noise_selects_nothing_with_a_warning() -> None:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.standard_normal((60, 3)), columns=["a", "b", "c"])
    y = random.integers(0, 2, 60)
    for X in (frame, frame.to_numpy()):
        selector = small().fit(X, y)
        with pytest.warns(UserWarning, match="No features were selected"):
            assert selector.transform(X).shape == (60, 0)


def test_too_few_permutations_for_the_level_are_refused() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="Set n_permutations to at least 19"):
        ForestSelector(n_permutations=18).fit(X, y)


def test_a_forest_without_out_of_bag_rows_is_refused() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="bootstrap"):
        ForestSelector(RandomForestRegressor(5, bootstrap=False), n_permutations=19).fit(X, y)


def test_verbose_prints_the_progress(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = table()
    small("regression", verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "forest 2 of 20"
    assert lines[-1] == "forest 20 of 20"
    assert len(lines) == 10
