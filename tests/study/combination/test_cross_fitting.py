"""Rules fitted to all rows but those they predict: in threads, and on the rules of a base."""

from typing import Any

import numpy as np
import pytest

from arboleda.combine import MemberOutputs
from arboleda.study.combination import methods
from arboleda.study.combination.cross_fitting import CrossFitted, cross_fit
from arboleda.study.combination.methods import METHODS

BY_KEY = {method.key: method for method in METHODS}
N_ROWS = 600
LABELS = np.array(["no", "yes"], dtype=object)


def make_outputs(task: str) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    if task == "regression":
        y = draw.normal(size=N_ROWS)
        return y + draw.normal(size=(4, N_ROWS)) * np.array([[0.3], [0.3], [1.0], [3.0]]), y
    y = draw.integers(0, 2, N_ROWS)
    logits = np.linspace(2.0, 0.0, 4)[:, None, None] * np.eye(2)[y]
    p = np.exp(logits + draw.normal(size=(4, N_ROWS, 2)))
    return p / p.sum(axis=2, keepdims=True), y


def fit(key: str, task: str, **options: Any) -> CrossFitted:
    outputs, y = make_outputs(task)
    rows, names = np.arange(N_ROWS), list("abcd")
    labels = None if task == "regression" else LABELS
    whole = MemberOutputs(names, outputs, labels, rows, N_ROWS)
    parts = [
        MemberOutputs(names, outputs[:, part], labels, part, N_ROWS)
        for part in np.array_split(rows, 3)
    ]
    return cross_fit(BY_KEY[key].fit, parts, whole, y, 0, **options)


def assert_equal(one: CrossFitted, two: CrossFitted, task: str) -> None:
    outputs, _ = make_outputs(task)
    for mine, others in zip(one.rules, two.rules, strict=True):
        assert np.array_equal(mine(outputs), others(outputs))
    for mine, others in zip(one.predictions, two.predictions, strict=True):
        assert np.array_equal(mine, others)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("in_time", [False, True])
@pytest.mark.parametrize("key", [m.key for m in METHODS if m.uses_threads])
def test_threads_change_no_bit(key: str, in_time: bool, task: str) -> None:
    one, three = (fit(key, task, in_time=in_time, n_threads=n) for n in (1, 3))
    assert len(one.rules) == 4
    assert_equal(one, three, task)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("in_time", [False, True])
def test_the_rules_of_the_base_are_used_and_not_fitted_again(
    in_time: bool, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = BY_KEY["boosted_stacking"]
    assert method.base == "greedy_selection"
    alone = fit(method.key, task, in_time=in_time)
    bases = fit(method.base, task, in_time=in_time).rules
    monkeypatch.setattr(methods, "_fit_greedy", None)
    assert_equal(alone, fit(method.key, task, in_time=in_time, bases=bases), task)
