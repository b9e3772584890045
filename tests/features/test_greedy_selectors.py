"""mRMR and JMI against the criteria as the papers write them, and on columns of known use."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from arboleda import JMISelector, MRMRSelector, RandomForestClassifier
from arboleda.features import mutual_information

Array = npt.NDArray[Any]
SELECTORS = [MRMRSelector, JMISelector]


def information(a: Array, b: Array) -> float:
    """Counted information beyond chance."""
    table = contingency_matrix(a, b)
    return float(mutual_info_score(a, b) - expected_mutual_information(table, len(a)))


def naive_mrmr(X: Array, y: Array, k: int, scheme: str) -> tuple[list[int], list[float]]:
    """Peng et al. (2005), eq. (7), one column at a time."""
    order: list[int] = []
    values: list[float] = []
    while len(order) < k:
        worth = {}
        for j in set(range(X.shape[1])) - set(order):
            relevance = max(0.0, information(X[:, j], y))
            redundancy = [max(0.0, information(X[:, j], X[:, s])) for s in order]
            if not order:
                worth[j] = relevance
            elif scheme == "difference":
                worth[j] = relevance - sum(redundancy) / len(order)
            else:
                worth[j] = relevance / (sum(redundancy) / len(order) + 0.01 * np.log(2))
        order.append(max(worth, key=lambda j: worth[j]))
        values.append(worth[order[-1]])
    return order, values


def naive_jmi(X: Array, y: Array, k: int) -> tuple[list[int], list[float]]:
    """The mean of I(x_j, x_s; y), by I(x_s; y) + I(x_j; y | x_s)."""
    order: list[int] = []
    values: list[float] = []
    while len(order) < k:
        worth = {}
        for j in set(range(X.shape[1])) - set(order):
            pairs = [
                information(X[:, s], y)
                + information(X[:, j], 1000 * X[:, s] + y)
                - information(X[:, j], X[:, s])
                for s in order
            ]
            worth[j] = sum(pairs) / len(order) if order else information(X[:, j], y)
        order.append(max(worth, key=lambda j: worth[j]))
        values.append(worth[order[-1]])
    return order, values


def discrete_table(seed: int) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (150, 7))
    X[:, 3] = X[:, 0] // 2
    return X, (X[:, 0] > 1) * 2 + (X[:, 1] ^ (random.random(150) < 0.2)) % 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_mrmr_equals_its_naive_twin(seed: int, scheme: Any) -> None:
    X, y = discrete_table(seed)
    selector = MRMRSelector(4, scheme=scheme).fit(X, y)
    order, values = naive_mrmr(X, y, 4, scheme)
    assert selector.order_.tolist() == order
    np.testing.assert_allclose(selector.order_scores_, values, rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("seed", range(3))
def test_jmi_equals_its_naive_twin(seed: int) -> None:
    X, y = discrete_table(seed)
    selector = JMISelector(4).fit(X, y)
    order, values = naive_jmi(X, y, 4)
    assert selector.order_.tolist() == order
    np.testing.assert_allclose(selector.order_scores_, values, rtol=1e-3, atol=2e-5)


def test_mrmr_leaves_out_redundant_columns() -> None:
    random = np.random.default_rng(0)
    one, other = random.standard_normal((2, 600))
    X = np.column_stack([one, one + 0.01 * random.standard_normal(600), other])
    y = 2 * one + other > 0
    assert set(MRMRSelector(2).fit(X, y).order_) in ({0, 2}, {1, 2})
    assert MRMRSelector(2).fit(X, y).scores_[2] < MRMRSelector(2).fit(X, y).scores_[:2].min()


@pytest.mark.parametrize("continuous", ["bins", "neighbors"])
def test_jmi_finds_two_columns_informative_only_together(continuous: Any) -> None:
    """An exclusive or, one column of which is slightly informative alone."""
    random = np.random.default_rng(1)
    X = random.standard_normal((800, 6))
    X[:, 2] += 0.3
    y = (X[:, 2] > 0) ^ (X[:, 4] > 0)
    y[:200] = X[:200, 2] > 0
    jmi = JMISelector(2, continuous=continuous, random_state=0, n_bins=6).fit(X, y)
    assert set(jmi.order_) == {2, 4}


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("continuous", ["bins", "neighbors"])
def test_a_regression_target_is_supported(selector: Any, continuous: Any) -> None:
    random = np.random.default_rng(2)
    X = random.standard_normal((500, 8))
    y = np.sin(2 * X[:, 1]) + X[:, 5] ** 2 + 0.1 * random.standard_normal(500)
    chosen = selector(2, continuous=continuous, random_state=0).fit(X, y)
    assert chosen.task_ == "regression"
    assert set(chosen.order_) == {1, 5}
    as_count = selector(2, task="regression").fit(X, np.round(10 * y))
    assert set(as_count.order_) == {1, 5}


@pytest.mark.parametrize("selector", SELECTORS)
def test_attributes_describe_the_selection(selector: Any) -> None:
    X, y = discrete_table(0)
    fitted = selector(4).fit(X, y)
    assert fitted.get_support().sum() == 4
    assert sorted(fitted.order_) == fitted.get_support(indices=True).tolist()
    np.testing.assert_array_equal(fitted.scores_, mutual_information(X, y))
    assert fitted.order_[0] == fitted.scores_.argmax()
    assert fitted.order_scores_[0] == fitted.scores_.max()
    np.testing.assert_array_equal(fitted.transform(X), X[:, np.sort(fitted.order_)])
    assert selector(100).fit(X, y).get_support().all()


@pytest.mark.parametrize("selector", SELECTORS)
def test_larger_selections_extend_smaller_ones(selector: Any) -> None:
    X, y = discrete_table(1)
    few, many = selector(3).fit(X, y), selector(6).fit(X, y)
    np.testing.assert_array_equal(few.order_, many.order_[:3])


def mixed_table() -> tuple[pd.DataFrame, Array]:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "noise": random.standard_normal(300),
            "city": random.choice(["Lima", "Quito", "Cali"], 300),
            "age": random.normal(40, 10, 300).round(),
            "more noise": random.integers(0, 9, 300),
        }
    )
    y = np.where((frame["city"] == "Lima") ^ (frame["age"] > 45), "yes", "no")
    frame.loc[::7, "age"] = np.nan
    return frame, y


@pytest.mark.parametrize("selector", SELECTORS)
def test_frames_stay_frames(selector: Any) -> None:
    """Of any library, with columns matched by name, so that the next step sees their types."""
    frame, y = mixed_table()
    fitted = selector(2).fit(frame, y)
    assert fitted.get_feature_names_out().tolist() == ["city", "age"]
    chosen = frame[["city", "age"]]
    pd.testing.assert_frame_equal(fitted.transform(frame[frame.columns[::-1]]), chosen)
    others = [pl.from_pandas(frame), pa.Table.from_pandas(frame)]
    for other in others:
        again = selector(2).fit(other, y)
        np.testing.assert_array_equal(again.order_, fitted.order_)
        np.testing.assert_array_equal(again.scores_, fitted.scores_)
        reduced = again.transform(other)
        assert type(reduced) is type(other)
        names = getattr(reduced, "column_names", reduced.columns)
        assert list(names) == ["city", "age"]
    with pytest.raises(ValueError, match="lacks 'age'"):
        fitted.transform(frame.drop(columns="age"))


def test_set_output_selects_another_container() -> None:
    frame, y = mixed_table()
    selector = MRMRSelector(2).set_output(transform="polars").fit(frame, y)
    assert isinstance(selector.transform(frame), pl.DataFrame)
    selector.set_output(transform="pandas")
    pd.testing.assert_frame_equal(selector.transform(frame), frame[["city", "age"]])
    polars = pl.from_pandas(frame)
    assert isinstance(selector.transform(polars), pd.DataFrame)
    assert selector.set_output(transform="polars").transform(polars).schema["city"] == pl.String


def test_columns_keep_their_types_in_another_container() -> None:
    frame, y = mixed_table()
    frame["city"] = frame["city"].astype("category")
    selector = MRMRSelector(2).fit(frame, y)
    for other in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        chosen = selector.set_output(transform="pandas").transform(other)
        assert chosen["city"].dtype == "category"
        assert chosen["age"].dtype == np.float64
        chosen = selector.set_output(transform="polars").transform(other)
        assert [str(dtype) for dtype in chosen.dtypes] == ["Categorical", "Float64"]


def test_huge_targets_are_supported() -> None:
    random = np.random.default_rng(5)
    X = random.standard_normal((60, 3))
    assert MRMRSelector(1).fit(X, X[:, 1] * 1e307).order_.tolist() == [1]


@pytest.mark.parametrize("selector", SELECTORS)
def test_sparse_tables_are_supported(selector: Any) -> None:
    random = np.random.default_rng(4)
    X = random.poisson(0.5, (200, 20)).astype(float)
    y = X[:, 3] + X[:, 7] > 1
    dense, sparse = selector(3).fit(X, y), selector(3).fit(csr_array(X), y)
    np.testing.assert_array_equal(dense.order_, sparse.order_)
    np.testing.assert_array_equal(sparse.transform(csr_array(X)).toarray(), dense.transform(X))


@pytest.mark.parametrize("selector", SELECTORS)
def test_categories_are_supported_by_name_and_in_a_pipeline(selector: Any) -> None:
    frame, y = mixed_table()
    coded = frame.assign(city=frame["city"].map({"Lima": 5.0, "Quito": 4.0, "Cali": 9.0}))
    by_name = selector(2, categorical_features=["city"]).fit(coded, y)
    assert by_name.get_feature_names_out().tolist() == ["city", "age"]
    pipeline = make_pipeline(selector(2), RandomForestClassifier(20, random_state=0))
    assert pipeline.fit(frame, y).score(frame, y) > 0.9


def test_the_number_of_columns_is_tuned_inside_cross_validation() -> None:
    X, y = discrete_table(2)
    pipeline = make_pipeline(MRMRSelector(), LogisticRegression())
    search = GridSearchCV(pipeline, {"mrmrselector__n_features_to_select": [1, 3]}, cv=3)
    assert search.fit(X, y).best_params_ == {"mrmrselector__n_features_to_select": 3}


def test_threads_change_nothing() -> None:
    X, y = discrete_table(0)
    one, two = MRMRSelector(4, n_jobs=1).fit(X, y), MRMRSelector(4, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.order_scores_, two.order_scores_)


def test_ties_are_broken_by_the_seed() -> None:
    X, y = discrete_table(0)
    by_neighbors = MRMRSelector(4, continuous="neighbors", n_bins=2)
    fits = [clone(by_neighbors).set_params(random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0].order_scores_, fits[1].order_scores_)
    assert (fits[0].order_scores_ != fits[2].order_scores_).any()


def test_a_failed_fit_leaves_the_selector_unchanged() -> None:
    X, y = discrete_table(0)
    selector = MRMRSelector(3).fit(X, y)
    order = selector.order_
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        selector.fit(X[:, :2], y[:-1])
    assert selector.order_ is order
    assert selector.n_features_in_ == 7


def test_verbose_prints_each_column(capsys: pytest.CaptureFixture[str]) -> None:
    frame, y = mixed_table()
    MRMRSelector(2, verbose=1).fit(frame, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "column 1 of 2: 'city'",
        "column 2 of 2: 'age'",
    ]


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("preselect", [4, 0.4, 0.35])
def test_preselected_columns_are_searched_like_a_smaller_table(
    selector: Any, preselect: Any
) -> None:
    random = np.random.default_rng(3)
    X = random.integers(0, 4, size=(200, 10))
    y = (X[:, 2] + X[:, 5] + X[:, 7] + random.integers(0, 3, 200) > 5).astype(int)
    model = selector(3, preselect=preselect).fit(X, y)
    worth = np.array([max(0.0, information(X[:, j], y)) for j in range(10)])
    best = np.sort(np.argsort(-worth, kind="stable")[:4])  # 0.35 of 10 is rounded up
    np.testing.assert_array_equal(model.candidates_, best)
    small = selector(3).fit(X[:, best], y)
    np.testing.assert_array_equal(model.order_, best[small.order_])
    np.testing.assert_allclose(model.order_scores_, small.order_scores_, rtol=1e-12)
    assert model.scores_.shape == (10,)
    assert set(selector(3).fit(X, y).candidates_) == set(range(10))


def test_preselection_loses_columns_informative_only_together() -> None:
    random = np.random.default_rng(0)
    X = random.integers(0, 2, size=(2000, 30))
    X[:, 1] = random.random(2000) < 0.7
    y = X[:, 0] ^ X[:, 1]  # column 0 is informative alone, column 1 only together with it
    assert JMISelector(2).fit(X, y).order_.tolist() == [0, 1]
    few = JMISelector(2, preselect=2).fit(X, y)
    assert few.order_[0] == 0
    assert 1 not in few.candidates_


@pytest.mark.parametrize("selector", SELECTORS)
def test_preselection_of_too_few_columns_is_refused(selector: Any) -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 10)), np.arange(60) % 2
    with pytest.raises(ValueError, match=r"preselect=0.2 keeps 2 of 10 columns, fewer than"):
        selector(3, preselect=0.2).fit(X, y)
    with pytest.raises(ValueError, match="'preselect'"):
        selector(3, preselect=1.5).fit(X, y)
    assert selector(20, preselect=1.0).fit(X, y).support_.all()
