"""Facts about the selected model."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit

from arboleda.study import Study
from arboleda.study.results.selection import find_disjoint_folds, select_honestly

pytestmark = pytest.mark.usefixtures("undrawn")


def apart_of(splitter: Any, n: int = 40) -> list[list[int]]:
    folds = list(splitter.split(np.zeros((n, 1))))
    return [found.tolist() for found in find_disjoint_folds(folds, n_rows=n)]


def test_folds_of_one_split_share_no_row() -> None:
    assert apart_of(KFold(4)) == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def test_folds_of_the_same_repeat_are_disjoint() -> None:
    found = apart_of(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    assert found == [[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4]]


def test_overlapping_samples_are_not_disjoint() -> None:
    assert apart_of(ShuffleSplit(5, test_size=0.7, random_state=0)) == [[]] * 5


def test_in_time_order_only_earlier_folds_select() -> None:
    folds = [(np.arange(0, 5 * k), np.arange(5 * k, 5 * k + 5)) for k in (1, 2, 3)]
    found = [f.tolist() for f in find_disjoint_folds(folds, n_rows=20, in_time=True)]
    assert found == [[], [0], [0, 1]]


@pytest.mark.parametrize("up", [True, False])
def test_the_corrected_score_matches_its_definition(up: bool) -> None:
    draw = np.random.default_rng(3)
    scores = draw.normal(size=(7, 4))
    models = np.array([0, 0, 0, 1, 1, 2, 2])
    apart = [np.array([j for j in range(4) if j != k]) for k in range(4)]
    found = select_honestly(scores, models, apart, greater_is_better=up)
    for k in range(4):
        means = {c: np.mean([scores[c, j] for j in range(4) if j != k]) for c in range(7)}
        best = max(means, key=lambda c: means[c] if up else -means[c])
        others = {c: m for c, m in means.items() if models[c] != models[best]}
        second = max(others, key=lambda c: others[c] if up else -others[c])
        lead = scores[best, k] - scores[second, k]
        assert found.chosen[k] == best
        assert found.scores[k] == scores[best, k]
        assert found.leads is not None
        assert found.leads[k] == (lead if up else -lead)


def test_a_fold_without_others_is_not_scored() -> None:
    apart = [np.array([], dtype=int), np.array([0])]
    found = select_honestly(
        np.array([[0.1, 0.2], [0.3, 0.1]]), np.array([0, 0]), apart, greater_is_better=True
    )
    assert found.folds.tolist() == [1]
    assert found.scores.tolist() == [0.1]
    assert found.leads is None


def test_the_facts_of_a_study_have_the_corrected_score(tmp_path: Any) -> None:
    options = {"target": "target", "metric": "accuracy", "models": "cart,lda,naive_bayes"}
    facts = Study("wine", output_dir=tmp_path, **options).run()
    found, models = facts.facts["selection"], facts.facts["models"]
    assert found["chosen"] == models[0]["key"]
    assert found["cv"]["mean"] == models[0]["cv"]["mean"]
    assert found["test"] == models[0]["test"]["metrics"]["accuracy"]
    assert found["n_candidates"] == sum(len(m["candidates"]) for m in models)
    honest = found["honest"]
    assert found["optimism"] == pytest.approx(found["cv"]["mean"] - honest["mean"])
    scores = np.array(honest["folds"])
    # Nadeau and Bengio (2003): five folds, each a fourth of what the model learned from.
    error = np.sqrt((1 / 5 + 1 / 4) * scores.var(ddof=1))
    reach = stats.t.ppf(0.975, 4) * error
    assert honest["low"] == pytest.approx(scores.mean() - reach, rel=0.01)
    assert honest["high"] == pytest.approx(min(scores.mean() + reach, 1.0), rel=0.01)
    assert models[0]["name"] in found["sentence"]
    assert found["lead"]["over"] == models[1]["key"]


def test_a_single_candidate_has_no_selection_bias(tmp_path: Any) -> None:
    facts = Study("wine", target="target", models="most_frequent", output_dir=tmp_path).run().facts
    found = facts["selection"]
    assert found["n_candidates"] == 1
    assert "alone and in one setting" in found["sentence"]
    assert found["lead"] is None


def test_a_rest_of_rounding_is_no_optimism(tmp_path: Any) -> None:
    # Every left-out fold chooses the same tree, so the two means differ by the order of their sums.
    facts = Study("iris", target="target", models="cart", output_dir=tmp_path).run().facts
    found = facts["selection"]
    assert abs(found["optimism"]) < 1e-12
    assert "candidates; the correction did not change it." in found["sentence"]
    assert "optimistic" not in found["sentence"]
