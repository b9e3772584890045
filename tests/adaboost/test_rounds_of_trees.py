"""Rounds of the engine for algorithms with weights of pairs, or with regression members.

The reference of a round is `Algorithm.step`, which the loop for members of any kind uses: from the
predictions of the engine's trees, it must compute the same errors, weights and normalizers.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboleda import AdaBoostClassifier, DecisionTreeRegressor
from arboleda._engine.adaboost import AdaBoosted, AdaBoostOptions, fit_adaboost
from arboleda._engine.columns import DenseTable
from arboleda.adaboost._algorithms import ALGORITHMS, BoostingProblem
from arboleda.adaboost._algorithms._pair_algorithms import MHAlgorithm

Floats = npt.NDArray[np.float64]

BY_PAIRS = ("M2", "MR", "MH")
REGRESSIONS = ("gentle", "logit")
ALL = BY_PAIRS + REGRESSIONS


class LeavesOfLeastNormalizer(MHAlgorithm):
    """Leaves of the engine hold the votes of least Z but for their smoothing: nothing to search."""

    def compute_exponent(self, state: Floats, agreement: Floats, error: float) -> float:
        return 1.0


REFERENCES = {**ALGORITHMS, "MH": LeavesOfLeastNormalizer}


class Data(NamedTuple):
    X: Floats
    target: npt.NDArray[np.intp]
    weight: Floats  # sums to 1; 0 in some rows
    n_classes: int

    @property
    def table(self) -> DenseTable:
        n_rows, n_columns = self.X.shape
        return DenseTable([self.X[:, j] for j in range(n_columns)], n_rows, (0,) * n_columns)

    @property
    def problem(self) -> BoostingProblem:
        return BoostingProblem(self.target, np.arange(self.n_classes), self.weight)


def make_data(n_classes: int, seed: int, n_rows: int = 300) -> Data:
    """Classes by two columns, with noise, of rows of different weights."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4)).round(1)
    X[random.random(n_rows) < 0.1, 2] = np.nan
    signal = X[:, 0] + np.abs(X[:, 1]) + 0.3 * random.normal(size=n_rows)
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    target = np.searchsorted(cuts, signal)
    target[:n_classes] = np.arange(n_classes)
    weight = random.integers(0, 5, n_rows).astype(np.float64)
    weight[:n_classes] = 1.0
    return Data(X, target, weight / weight.sum(), n_classes)


def boost(data: Data, algorithm: str, n_rounds: int, *, n_threads: int = 1, **options: Any) -> Any:
    predicted = AdaBoostOptions(algorithm=algorithm, n_rounds=n_rounds, **options)
    return fit_adaboost(
        data.table.code(1),
        data.target,
        data.n_classes,
        data.weight,
        predicted,
        n_threads=n_threads,
        seed=0,
    )


def iter_predictions(boosted: AdaBoosted, data: Data) -> list[Floats]:
    """Return the votes of each member for each row."""
    sums = list(boosted.members.staged_scores(data.table))
    before = [np.zeros_like(sums[0]), *sums]
    weights = boosted.members.weights
    return [(now - was) / w for now, was, w in zip(sums, before, weights, strict=False)]


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("algorithm", ALL)
def test_rounds_match_the_papers(algorithm: str, n_classes: int, learning_rate: float) -> None:
    data = make_data(n_classes, seed=n_classes)
    boosted = boost(data, algorithm, 15, max_depth=2, learning_rate=learning_rate)
    assert boosted.end == "all_rounds"
    reference = REFERENCES[algorithm](n_classes, learning_rate)
    state = reference.start(data.problem)
    for t, votes in enumerate(iter_predictions(boosted, data)):
        expected = reference.step(data.problem, state, votes)
        rounds = boosted.rounds
        assert rounds.weight[t] == pytest.approx(expected.weight, rel=1e-9)
        assert rounds.error[t] == pytest.approx(expected.error, rel=1e-9)
        assert rounds.normalizer[t] == pytest.approx(expected.normalizer, rel=1e-9)
        assert rounds.edge[t] == pytest.approx(0.5 - expected.error, rel=1e-8)
        state = expected.state


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("algorithm", REGRESSIONS)
def test_members_are_regression_trees_on_the_working_targets(
    algorithm: str, n_classes: int
) -> None:
    data = make_data(n_classes, seed=8)
    boosted = boost(data, algorithm, 8, max_depth=3, min_samples_leaf=4)
    reference = ALGORITHMS[algorithm](n_classes, 1.0)
    state = reference.start(data.problem)
    for votes in iter_predictions(boosted, data):
        for k, task in enumerate(reference.make_tasks(data.problem, state)):
            tree = DecisionTreeRegressor(max_depth=3, min_samples_leaf=4)
            tree.fit(data.X, task.target, sample_weight=task.weight)
            np.testing.assert_allclose(votes[:, k], tree.predict(data.X), rtol=1e-9, atol=1e-9)
        state = reference.step(data.problem, state, votes).state


class Hidden(DecisionTreeRegressor):  # type: ignore[misc]
    """A tree that the library does not recognize as its own."""


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("algorithm", REGRESSIONS)
def test_scores_match_the_loop_for_members_of_any_type(algorithm: str, n_classes: int) -> None:
    data = make_data(n_classes, seed=11)
    boosted = boost(data, algorithm, 20, max_depth=2, learning_rate=0.5)
    generic = AdaBoostClassifier(
        Hidden(max_depth=2), n_estimators=20, learning_rate=0.5, algorithm=algorithm
    ).fit(data.X, data.target, sample_weight=data.weight)
    reference = ALGORITHMS[algorithm](n_classes, 0.5)
    scores = reference.compute_decision(boosted.members.scores(data.table), 1.0)
    np.testing.assert_allclose(scores, generic.decision_function(data.X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("algorithm", BY_PAIRS)
def test_leaf_values_are_optimal_for_the_weights(algorithm: str) -> None:
    data = make_data(4, seed=3)
    boosted = boost(data, algorithm, 6, max_depth=3)
    reference = REFERENCES[algorithm](4, 1.0)
    state = reference.start(data.problem)
    is_true = data.problem.is_true()
    smoothing = 1.0 / (4 * np.count_nonzero(data.weight))
    for t, votes in enumerate(iter_predictions(boosted, data)):
        tree = boosted.members.forest.tree(t)
        leaves = tree.apply(data.table)
        for leaf in np.unique(leaves):
            inside = leaves == leaf
            own = np.where(is_true[inside], state[inside].sum(axis=1, keepdims=True), 0.0)
            if algorithm == "MH":
                plus = np.where(is_true[inside], state[inside], 0.0).sum(axis=0)
                minus = state[inside].sum(axis=0) - plus
                expected = 0.5 * np.log((plus + smoothing) / (minus + smoothing))
            else:
                pi = (own - state[inside]).sum(axis=0)
                expected = np.where(pi > 0.0, 1.0, 0.0 if algorithm == "M2" else -1.0)
            np.testing.assert_allclose(votes[inside], np.broadcast_to(expected, (inside.sum(), 4)))
        state = reference.step(data.problem, state, votes).state


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 5), depth=st.integers(1, 3))
def test_training_errors_stay_below_their_bounds(seed: int, n_classes: int, depth: int) -> None:
    data = make_data(n_classes, seed, n_rows=80)
    rows = np.arange(len(data.target))
    is_true = data.problem.is_true()
    for algorithm in ("M2", "MR", "MH", "gentle"):
        boosted = boost(data, algorithm, 8, max_depth=depth)
        rounds = boosted.rounds
        bounds = np.cumprod(rounds.normalizer) * (1 + 1e-9)
        by_error = np.cumprod(2 * np.sqrt(rounds.error * (1 - rounds.error))) * (1 + 1e-9)
        assert (rounds.error < 0.5).all()
        for t, sums in enumerate(boosted.members.staged_scores(data.table)):
            if algorithm in ("M2", "MR"):
                own = sums[rows, data.target][:, np.newaxis]
                pairs = ((sums >= own) & ~is_true).sum(axis=1) / (n_classes - 1)
                assert (data.weight * pairs).sum() <= bounds[t]
                if rounds.error[t] > 1e-9:  # below, a member counts as having an error of 1e-10
                    assert bounds[t] <= by_error[t] * (1 + 1e-9)
                    wrong = sums.argmax(axis=1) != data.target
                    assert data.weight[wrong].sum() <= (n_classes - 1) * by_error[t]
            else:
                sides = np.where(is_true, 1.0, -1.0)[:, -sums.shape[1] :]
                lost = (sides * sums <= 0.0).mean(axis=1)
                assert (data.weight * lost).sum() <= bounds[t]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("algorithm", REGRESSIONS)
def test_the_loss_goes_down(algorithm: str, n_classes: int) -> None:
    data = make_data(n_classes, seed=5)
    boosted = boost(data, algorithm, 30, max_depth=2)
    assert (boosted.rounds.normalizer < 1.0).all()
    if algorithm == "logit":
        reference = ALGORITHMS["logit"](n_classes, 1.0)
        shares = reference.compute_probabilities(boosted.members.scores(data.table), 1.0)
        own = shares[np.arange(len(shares)), data.target]
        deviance = -(data.weight * np.log(own)).sum()
        expected = np.log(n_classes) * boosted.rounds.normalizer.prod()
        assert deviance == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("algorithm", ALL)
def test_threads_change_no_bit(algorithm: str) -> None:
    data = make_data(5, seed=1, n_rows=9000)
    one = boost(data, algorithm, 3, max_depth=4, weight_trimming=0.05)
    two = boost(data, algorithm, 3, max_depth=4, weight_trimming=0.05, n_threads=2)
    np.testing.assert_array_equal(
        one.members.scores(data.table), two.members.scores(data.table), strict=True
    )
    for a, b in zip(one.rounds, two.rounds, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("algorithm", ALL)
def test_rows_without_weight_are_ignored(algorithm: str) -> None:
    data = make_data(3, seed=2)
    kept = data.weight > 0.0
    without = Data(data.X[kept], data.target[kept], data.weight[kept], 3)
    both = (boost(each, algorithm, 4, max_depth=2) for each in (data, without))
    a, b = (boosted.members.scores(data.table) for boosted in both)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("algorithm", ALL)
def test_trimming_drops_only_rows_of_small_weight(algorithm: str) -> None:
    data = make_data(3, seed=6, n_rows=600)
    whole = boost(data, algorithm, 30, max_depth=2)
    trim_weights = boost(data, algorithm, 30, max_depth=2, weight_trimming=0.2)
    forests = [each.members.forest for each in (whole, trim_weights)]
    n_rows = [[int(f.tree(t).n_node_samples[0]) for t in range(f.n_trees)] for f in forests]
    assert max(n_rows[0]) == min(n_rows[0]) == np.count_nonzero(data.weight)
    assert min(n_rows[1]) < 0.9 * n_rows[0][0]
    assert trim_weights.rounds.normalizer.prod() < 0.9


@pytest.mark.parametrize("algorithm", ["M2", "MR"])
def test_a_perfect_member_ends_boosting_and_a_useless_one_is_dropped(algorithm: str) -> None:
    X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    data = Data(X, np.repeat([0, 1, 2], 4), np.full(12, 1 / 12), 3)
    perfect = boost(data, algorithm, 5, max_depth=2)
    assert perfect.end == "perfect"
    assert perfect.rounds.error.tolist() == [0.0]
    np.testing.assert_array_equal(perfect.members.scores(data.table).argmax(axis=1), data.target)
    useless = boost(data._replace(X=np.zeros_like(X)), algorithm, 5)
    assert useless.end == "too_weak"
    assert useless.weak_error == 0.5
    assert len(useless.rounds.error) == 0


@pytest.mark.parametrize("algorithm", ALL)
def test_a_huge_learning_rate_is_refused(algorithm: str) -> None:
    with pytest.raises(ValueError, match="lower learning_rate"):
        boost(make_data(3, seed=4), algorithm, 5, max_depth=2, learning_rate=1e308)


def test_one_class_has_no_pairs() -> None:
    data = Data(np.zeros((3, 1)), np.zeros(3, dtype=np.intp), np.full(3, 1 / 3), 1)
    with pytest.raises(ValueError, match="at least two classes"):
        boost(data, "M2", 2)
