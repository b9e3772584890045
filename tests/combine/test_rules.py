"""Each rule matches its definition, and has its textbook property."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize
from scipy.special import rel_entr, softmax

from arboleda.combine import MemberOutputs, combine_outputs

Floats = npt.NDArray[np.float64]
CLASS_RULES = ["majority", "mean", "geometric", "median", "min", "max", "trimmed"]


def made(outputs: Floats, classes: Any = None) -> MemberOutputs:
    names = [f"member {number}" for number in range(len(outputs))]
    if outputs.ndim == 3 and classes is None:
        classes = np.arange(outputs.shape[2])
    n_rows = outputs.shape[1]
    return MemberOutputs(names, outputs, classes, np.arange(n_rows), n_rows)


def made_of_choices(chosen: Any, n_classes: int) -> MemberOutputs:
    return made(np.eye(n_classes)[np.asarray(chosen)])


@st.composite
def some_outputs(draw: st.DrawFn) -> Floats:
    """Distributions of few values, so that ties and zeros come up."""
    shape = draw(st.tuples(st.integers(1, 9), st.integers(1, 6), st.integers(1, 4)))
    seed = draw(st.integers(0, 2**32 - 1))
    counts = np.random.default_rng(seed).integers(0, 4, shape).astype(float)
    counts[counts.sum(axis=2) == 0] = 1
    return counts / counts.sum(axis=2, keepdims=True)


def naive(outputs: Floats, rule: str, weights: Floats, trim: float) -> Floats:
    """The rule row by row, in the words of its definition."""
    n_members, n_rows, n_classes = outputs.shape
    combined = np.zeros((n_rows, n_classes))
    for i in range(n_rows):
        for k in range(n_classes):
            shares = [outputs[member, i, k] for member in range(n_members)]
            if rule == "majority":
                votes = [
                    weight
                    for member, weight in enumerate(weights)
                    if np.argmax(outputs[member, i]) == k
                ]
                combined[i, k] = sum(votes)
            elif rule == "mean":
                combined[i, k] = sum(w * p for w, p in zip(weights, shares, strict=True))
            elif rule == "geometric":
                powers = [p ** (w / sum(weights)) for w, p in zip(weights, shares, strict=True)]
                combined[i, k] = np.prod(powers)
            elif rule == "median":
                combined[i, k] = np.median(shares)
            elif rule == "trimmed":
                combined[i, k] = stats.trim_mean(shares, trim)
            else:
                combined[i, k] = {"min": min, "max": max}[rule](shares)
        if combined[i].sum() == 0:  # all classes are ruled out
            combined[i] = np.average(outputs[:, i], axis=0, weights=weights)
    return combined / combined.sum(axis=1, keepdims=True)


@given(some_outputs(), st.sampled_from(CLASS_RULES), st.sampled_from([0.0, 0.2, 0.4]))
@settings(max_examples=150, deadline=None)
def test_rules_match_their_definitions(outputs: Floats, rule: Any, trim: float) -> None:
    found = combine_outputs(made(outputs), rule, trim=trim)
    expected = naive(outputs, rule, np.ones(len(outputs)), trim)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(some_outputs(), st.sampled_from(["majority", "mean", "geometric"]), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_weighted_rules_match_their_definitions(outputs: Floats, rule: Any, seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0.1, 3, len(outputs))
    found = combine_outputs(made(outputs), rule, weights=weights)
    np.testing.assert_allclose(found, naive(outputs, rule, weights, 0), atol=1e-12)


@given(some_outputs(), st.sampled_from(CLASS_RULES), st.data())
@settings(max_examples=60, deadline=None)
def test_a_member_of_weight_0_is_ignored(outputs: Floats, rule: Any, data: Any) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(outputs), max_size=len(outputs)))
    if not any(kept):
        kept[0] = True
    mask = np.array(kept)
    found = combine_outputs(made(outputs), rule, weights=mask.astype(float))
    np.testing.assert_array_equal(found, combine_outputs(made(outputs[mask]), rule))


@pytest.mark.parametrize("rule", CLASS_RULES)
@pytest.mark.parametrize("n_members", [1, 2, 7])
def test_identical_members_predict_like_one(rule: Any, n_members: int) -> None:
    one = np.random.default_rng(0).dirichlet([1, 1, 1], 50)
    found = combine_outputs(made(np.stack([one] * n_members)), rule)
    expected = np.eye(3)[one.argmax(axis=1)] if rule == "majority" else one
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_rules_of_regressors_match_their_definitions() -> None:
    values = np.random.default_rng(0).normal(size=(7, 40))
    outputs = made(values)
    np.testing.assert_allclose(combine_outputs(outputs, "mean"), values.mean(axis=0))
    np.testing.assert_array_equal(combine_outputs(outputs, "median"), np.median(values, axis=0))
    np.testing.assert_array_equal(combine_outputs(outputs, "min"), values.min(axis=0))
    np.testing.assert_array_equal(combine_outputs(outputs, "max"), values.max(axis=0))
    np.testing.assert_allclose(
        combine_outputs(outputs, "trimmed", trim=0.3), stats.trim_mean(values, 0.3)
    )
    y = values[0] + 0.5 * values[1]
    errors = ((values - y) ** 2).mean(axis=1)
    expected = np.average(values, axis=0, weights=1 / errors)
    np.testing.assert_allclose(combine_outputs(outputs, "weighted", seen=outputs, y=y), expected)
    exact = combine_outputs(outputs, "weighted", seen=outputs, y=values[3])
    np.testing.assert_allclose(exact, values[3])


def test_means_minimise_their_divergences() -> None:
    random = np.random.default_rng(1)
    for _ in range(5):
        members = random.dirichlet([1, 1, 1, 1], 5)
        weights = random.uniform(0.2, 2, 5)

        def from_members(z: Floats, members: Any = members, weights: Any = weights) -> Any:
            return weights @ rel_entr(members, softmax(z)).sum(axis=1)

        def to_members(z: Floats, members: Any = members, weights: Any = weights) -> Any:
            return weights @ rel_entr(softmax(z), members).sum(axis=1)

        outputs = made(members[:, np.newaxis])
        for objective, rule in ((from_members, "mean"), (to_members, "geometric")):
            best = softmax(minimize(objective, np.zeros(4), tol=1e-12).x)
            found = combine_outputs(outputs, rule, weights=weights)[0]  # type: ignore[arg-type]
            np.testing.assert_allclose(found, best, atol=1e-5)
            assert objective(np.log(found)) <= objective(np.log(best)) + 1e-12


def independent_members(accuracies: Any, n_classes: int, y: Any, seed: int) -> Any:
    """Choices of members that err independently, uniformly over the other classes."""
    random = np.random.default_rng(seed)
    right = random.random((len(accuracies), len(y))) < np.reshape(accuracies, (-1, 1))
    other = (y + random.integers(1, n_classes, right.shape)) % n_classes
    return np.where(right, y, other)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_log_odds_weights_are_the_best_linear_votes(n_classes: int) -> None:
    accuracies = [0.9, 0.75, 0.7, 0.65, 0.6, 0.55]
    y = np.random.default_rng(0).integers(0, n_classes, 60_000)
    seen = made_of_choices(independent_members(accuracies, n_classes, y, 1), n_classes)
    fresh = made_of_choices(independent_members(accuracies, n_classes, y, 2), n_classes)

    def accuracy(shares: Floats) -> float:
        return float((shares.argmax(axis=1) == y).mean())

    found = accuracy(combine_outputs(fresh, "weighted", seen=seen, y=y))
    others = [np.ones(6), np.array(accuracies), np.eye(6)[0]]
    others += list(np.random.default_rng(3).uniform(0, 1, (40, 6)))
    for weights in others:
        assert found >= accuracy(combine_outputs(fresh, "majority", weights=weights)) - 0.001
    assert found > accuracy(combine_outputs(fresh, "majority")) + 0.01


def test_log_odds_weights_are_finite_for_perfect_members() -> None:
    y = np.array([0, 1] * 50)
    chosen = np.array([y, 1 - y, np.where(np.arange(100) < 80, y, 1 - y)])
    outputs = made_of_choices(chosen, 2)
    shares = combine_outputs(outputs, "weighted", seen=outputs, y=y)
    w = [np.log(0.995 / 0.005), np.log(0.005 / 0.995), np.log(0.8 / 0.2)]
    for row in (0, 99):
        score = [sum(w[m] for m in range(3) if chosen[m, row] == k) for k in range(2)]
        np.testing.assert_allclose(shares[row], softmax(score))


def test_naive_bayes_matches_its_definition() -> None:
    random = np.random.default_rng(5)
    y = random.integers(0, 3, 90)
    weight = random.integers(1, 4, 90).astype(float)
    chosen = random.integers(0, 3, (4, 90))
    outputs = made_of_choices(chosen, 3)
    found = combine_outputs(outputs, "naive_bayes", seen=outputs, y=y, sample_weight=weight)
    for row in range(90):
        posterior = np.zeros(3)
        for k in range(3):
            of_class = weight[y == k].sum()
            posterior[k] = of_class / weight.sum()
            for member in range(4):
                same = weight[(y == k) & (chosen[member] == chosen[member, row])].sum()
                posterior[k] *= (same + 1 / 3) / (of_class + 1)
        np.testing.assert_allclose(found[row], posterior / posterior.sum(), atol=1e-12)


def test_naive_bayes_is_the_bayes_rule_for_members_independent_given_the_class() -> None:
    """With the exact frequency of every combination of choices, the posterior is exact."""
    prior = np.array([0.5, 0.3, 0.2])
    random = np.random.default_rng(2)
    tables = random.dirichlet([2, 1, 1], (4, 3))  # (member, class, choice)
    cells = [(k, *chosen) for k in range(3) for chosen in product(range(3), repeat=4)]
    joint = np.array(
        [
            prior[k] * np.prod([tables[m, k, s] for m, s in enumerate(chosen)])
            for k, *chosen in cells
        ]
    )
    y = np.array([k for k, *_ in cells])
    chosen = np.array([c for _, *c in cells]).T
    outputs = made_of_choices(chosen, 3)
    found = combine_outputs(outputs, "naive_bayes", seen=outputs, y=y, sample_weight=joint * 1e12)
    exact = joint.reshape(3, -1) / joint.reshape(3, -1).sum(axis=0)
    np.testing.assert_allclose(found[: exact.shape[1]], exact.T, atol=1e-9)


def test_a_tie_goes_to_the_first_class() -> None:
    outputs = made_of_choices([[2, 1], [1, 0]], 3)
    assert combine_outputs(outputs, "majority").argmax(axis=1).tolist() == [1, 0]
    even = made(np.array([[[0.25, 0.5, 0.25]], [[0.5, 0.25, 0.25]]]))
    for rule in CLASS_RULES:
        assert combine_outputs(even, rule).argmax(axis=1).tolist() == [0]  # type: ignore[arg-type]


def test_threads_change_no_bit_and_outputs_are_not_modified() -> None:
    values = np.random.default_rng(0).dirichlet([1, 1, 1], (6, 3000))
    values.flags.writeable = False
    outputs = made(values)
    for rule in [*CLASS_RULES, "weighted", "naive_bayes"]:
        learning = {"seen": outputs, "y": np.arange(3000) % 3}
        one = combine_outputs(outputs, rule, n_jobs=1, **learning)  # type: ignore[arg-type]
        two = combine_outputs(outputs, rule, n_jobs=2, **learning)  # type: ignore[arg-type]
        np.testing.assert_array_equal(one, two)


def test_incompatible_options_are_refused() -> None:
    outputs = made(np.full((3, 4, 2), 0.5))
    with pytest.raises(
        ValueError, match="rule must be one of .* to combine classes, got 'average'"
    ):
        combine_outputs(outputs, "average")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="rule must be one of .* to combine values, got 'majority'"
    ):
        combine_outputs(made(np.ones((3, 4))), "majority")
    with pytest.raises(ValueError, match="2 weights for 3 members"):
        combine_outputs(outputs, "mean", weights=[1, 2])
    with pytest.raises(ValueError, match="all members are 0"):
        combine_outputs(outputs, "median", weights=[0, 0, 0])
    with pytest.raises(ValueError, match="sum to 0"):
        combine_outputs(outputs, "mean", weights=[1, -1, 0])
    with pytest.raises(ValueError, match="not all positive"):
        combine_outputs(outputs, "geometric", weights=[1, -1, 2])
    with pytest.raises(ValueError, match="rule='median' supports only equal weights, or 0"):
        combine_outputs(outputs, "median", weights=[1, 2, 1])
    with pytest.raises(ValueError, match="learns from out-of-fold outputs"):
        combine_outputs(outputs, "naive_bayes")
    with pytest.raises(ValueError, match="learns the weights"):
        combine_outputs(outputs, "weighted", weights=[1, 2, 1])
    with pytest.raises(ValueError, match="y has 3 rows, but the table of seen has 4"):
        combine_outputs(outputs, "weighted", seen=outputs, y=[0, 1, 1])
    with pytest.raises(ValueError, match="y holds 7, which is not a class"):
        combine_outputs(outputs, "weighted", seen=outputs, y=[0, 1, 7, 0])
