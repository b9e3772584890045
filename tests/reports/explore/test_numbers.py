"""Numbers of the facts against scikit-learn and NumPy, worked out step by step."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score, silhouette_score
from sklearn.metrics.cluster import expected_mutual_information
from sklearn.metrics.cluster._supervised import contingency_matrix
from sklearn.mixture import GaussianMixture

from arboleda import RandomForestClassifier
from arboleda.analysis.exploration.relations import compute_correlations
from arboleda.study import Exploration, explore

Facts = dict[str, Any]


@pytest.fixture(scope="module")
def facts(explored: Exploration) -> Facts:
    return explored.facts


@pytest.fixture(scope="module")
def matrix(flowers: pd.DataFrame) -> np.ndarray:
    """The prepared matrix by hand: medians, standard units, a column for each level."""
    numbers = flowers[["length", "width", "height"]]
    filled = numbers.fillna(numbers.median())
    scaled = (filled - filled.mean()) / filled.std(ddof=0)
    return np.column_stack([scaled, pd.get_dummies(flowers["soil"]).to_numpy(float)])


def test_correlations_match_numpy_on_complete_rows() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(50, 4)) @ random.normal(size=(4, 4)) + [0, 1e6, -3, 5]
    x[random.random(x.shape) < 0.2] = np.nan
    found = compute_correlations(x)
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j])
            expected = np.corrcoef(x[both, i], x[both, j])[0, 1]
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


def test_correlations_of_constant_and_huge_columns_are_handled() -> None:
    x = np.array([[1e308, 1, 2.0], [-1e308, 1, 1.0], [1e307, 1, 1.5], [3.0, 1, 1.4]])
    found = compute_correlations(x)
    assert found[0, 2] == pytest.approx(np.corrcoef(x[:, 0] / 1e308, x[:, 2])[0, 1])
    assert np.isnan(found[1]).all()


def test_the_matrix_and_the_pairs_agree(facts: Facts, flowers: pd.DataFrame) -> None:
    numbers = flowers[["length", "width", "height"]].corr()
    shown = facts["relations"]["matrix"]
    expected = numbers.loc[shown["columns"], shown["columns"]].to_numpy()
    assert np.allclose(shown["values"], expected)
    first = facts["relations"]["pairs"][0]
    assert first["columns"] == ["length", "width"]
    assert first["correlation"] == pytest.approx(numbers.loc["length", "width"])
    assert facts["relations"]["partners"][1]["partner"] == "length"


def test_information_of_a_category_is_corrected_for_chance(
    facts: Facts, flowers: pd.DataFrame
) -> None:
    soil, kind = flowers["soil"], flowers["kind"]
    table = contingency_matrix(kind, soil, sparse=True).astype(np.int64)
    counted = mutual_info_score(kind, soil) - expected_mutual_information(table, len(kind))
    by_name = {c["name"]: c for c in facts["target_relations"]["columns"]}
    assert by_name["soil"]["information"] == pytest.approx(counted)
    shares = kind.value_counts(normalize=True).to_numpy()
    entropy = -(shares * np.log(shares)).sum()
    assert facts["target_relations"]["entropy"] == pytest.approx(entropy)
    assert by_name["soil"]["share"] == pytest.approx(counted / entropy)


def test_information_of_a_number_is_near_the_nearest_neighbour_estimate(
    facts: Facts, flowers: pd.DataFrame
) -> None:
    x = flowers[["length", "height"]].fillna(flowers["height"].median())
    expected = mutual_info_classif(x, flowers["kind"], random_state=0)
    by_name = {c["name"]: c for c in facts["target_relations"]["columns"]}
    assert by_name["length"]["information"] == pytest.approx(expected[0], abs=0.08)
    assert by_name["height"]["information"] == pytest.approx(expected[1], abs=0.05)
    both = flowers[["length"]].assign(kind=flowers["kind"] == "rose").corr()
    assert by_name["length"]["correlation"] == pytest.approx(both.iloc[0, 1])
    assert by_name["soil"]["correlation"] is None


def test_components_match_scikit_learn(facts: Facts, matrix: np.ndarray) -> None:
    expected = PCA().fit(matrix).explained_variance_ratio_
    found = facts["components"]
    assert np.allclose(found["explained"], expected[: len(found["explained"])])
    total = np.cumsum(expected)
    assert found["n_kept"] == int(np.argmax(total >= 0.9)) + 1
    weights = PCA().fit(matrix).components_[0] ** 2
    assert found["loadings"][0][0]["name"] in {"length", "width"}
    assert found["loadings"][0][0]["share"] == pytest.approx(weights[:2].max())


def test_clusters_match_scikit_learn(facts: Facts, matrix: np.ndarray) -> None:
    found = facts["clusters"]
    pca = PCA(svd_solver="covariance_eigh").fit(matrix)
    points = pca.transform(matrix)[:, : found["n_components"]]
    for k in (2, 5):
        fit = KMeans(k, n_init=4, random_state=0).fit(points)
        assert found["inertia"][k - 1] == pytest.approx(fit.inertia_)
        assert found["silhouette"][k - 1] == pytest.approx(silhouette_score(points, fit.labels_))
    mixed = points[:, : found["mixtures"]["n_components"]]
    fit = GaussianMixture(2, covariance_type="diag", random_state=0).fit(mixed)
    assert found["mixtures"]["bic"]["diag"][1] == pytest.approx(fit.bic(mixed))


def test_maps_contain_the_rows_and_their_targets(facts: Facts, flowers: pd.DataFrame) -> None:
    labels = [row["label"] for row in facts["target"]["classes"]]
    for part in ("components", "tsne", "isomap", "mds"):
        found = facts[part]["map"]
        assert max(np.ptp(found["x"]), np.ptp(found["y"])) == pytest.approx(1)
        names = [labels[k] for k in found["targets"]]
        assert names == flowers["kind"].iloc[np.array(found["rows"]) - 1].tolist()
    # The copy of a row would lie on it; the map has it once.
    assert len(facts["tsne"]["map"]["rows"]) == len(flowers) - 1


def test_outliers_match_the_forest(facts: Facts, flowers: pd.DataFrame) -> None:
    by_frequency = flowers["soil"].value_counts().index
    soil = by_frequency.get_indexer(flowers["soil"])
    x = np.column_stack([flowers[["length", "width", "height"]], soil])
    y = (flowers["kind"] == "rose").to_numpy(int)
    forest = RandomForestClassifier(200, categorical_features=[3], random_state=0).fit(x, y)
    scores = forest.outlier_scores(x, y)
    rows = facts["outliers"]["rows"]
    assert [row["row"] for row in rows] == (np.argsort(-scores, kind="stable")[:10] + 1).tolist()
    assert rows[0]["score"] == pytest.approx(scores.max())
    assert facts["outliers"]["n_suspicious"] == (scores > 10).sum()


def test_without_a_target_outliers_have_unusual_combinations() -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=300)
    frame = pd.DataFrame({"a": x, "b": x + random.normal(0, 0.1, 300),
                          "c": -x + random.normal(0, 0.1, 300)})  # fmt: skip
    frame.loc[17] = [1.5, -1.5, 1.5]  # each value alone is common
    assert explore(frame).facts["outliers"]["rows"][0]["row"] == 18


def test_scaling_keeps_the_distances_of_a_plane() -> None:
    random = np.random.default_rng(0)
    plane = random.normal(size=(80, 2))
    # Two redundant columns: the cloud is flat, and a map can keep all distances.
    frame = pd.DataFrame(np.column_stack([plane, plane.sum(axis=1), plane @ [2.0, -1.0]]))
    flat = explore(frame.rename(columns=str)).facts["mds"]
    assert flat["stress"] < 1e-6
    round_cloud = explore(pd.DataFrame(random.normal(size=(80, 6))).rename(columns=str)).facts
    mds, pca = round_cloud["mds"], round_cloud["components"]["map"]
    assert 0.1 < mds["stress"] < 0.5
    assert mds["map"]["x"] != pca["x"]


def test_the_same_table_and_seed_give_the_same_facts(
    explored: Exploration, flowers: pd.DataFrame
) -> None:
    assert explore(flowers, "kind").facts == explored.facts
    other = explore(flowers, "kind", seed=1).facts
    assert other["outliers"]["rows"] != explored.facts["outliers"]["rows"]


def test_large_tables_are_sampled_and_the_page_states_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in [
        ("structure", "MOST_ROWS", 60), ("structure", "MAP_ROWS", 40),
        ("structure", "SCALED_ROWS", 30),
        ("structure", "FOREST_ROWS", 50), ("relations", "CELLS", 1),
    ]:  # fmt: skip
        monkeypatch.setattr(f"arboleda.analysis.exploration.{module}.{name}", value)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(1500, 2)), columns=["a", "b"])
    found = explore(frame)
    facts = found.facts
    assert facts["table"]["n_rows"] == 1500
    assert facts["components"]["n_rows"] == facts["clusters"]["n_rows"] == 60
    assert facts["tsne"]["n_rows"] == facts["isomap"]["n_rows"] == 40
    assert facts["mds"]["n_rows"] == 30
    assert facts["outliers"]["n_rows"] == 50
    assert facts["relations"]["n_rows"] == 1000
    page = found.to_html()
    assert "a sample of 60 of 1,500 rows" in page
    assert "From a sample of 1,000 of 1,500 rows." in page
