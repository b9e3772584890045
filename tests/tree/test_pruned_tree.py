"""Selecting ccp_alpha by cross-validation, against loops that refit for every alpha."""

import os
import pickle
import re
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import xlogy
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_classification
from sklearn.model_selection import KFold, LeaveOneOut, PredefinedSplit, StratifiedKFold
from tests.conftest import shared_data
from tests.property.strategies import arrays_of

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ModelFormatError,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
    load,
)
from arboleda._base.folds import fold_splits, hold_out
from arboleda._engine import parallel as threads

Array = Any


@dataclass(frozen=True)
class Case:
    """A pruned tree, its plain tree with the same parameters, and a problem for them."""

    pruned: Any
    plain: Any
    X: Array
    y: Array
    weight: Array | None

    def loss(self, y: Array, predicted: Array) -> Array:
        if isinstance(self.plain, DecisionTreeClassifier):
            return (y != predicted).astype(float)
        if self.plain.criterion == "absolute_error":
            return np.abs(y - predicted)
        if self.plain.criterion == "poisson":
            return 2 * (xlogy(y, y / predicted) - y + predicted)
        return (y - predicted) ** 2


CLASSES = "gini entropy weighted balanced features random categories".split()


def cases(name: str, cv: Any = 4, **parameters: Any) -> Case:
    random = np.random.default_rng(3)
    grow: dict[str, Any] = {"min_samples_leaf": 2}
    if name in CLASSES:
        X, y = make_classification(150, 6, n_informative=4, n_classes=3, flip_y=0.2, random_state=4)
        X = np.round(X * 4) / 4
        classes = np.array(["ham", "egg", "pan"])[y]
        if name == "entropy":
            grow["criterion"] = "entropy"
        if name == "balanced":
            grow["class_weight"] = {"ham": 1.0, "egg": 3.0, "pan": 0.5}
        if name == "features":
            grow |= {"max_features": 2, "min_samples_leaf": 0.03}
        if name == "random":
            grow["splitter"] = "random"
        if name == "categories":
            X[:, :3] = np.round(X[:, :3] * 2) % 7
            grow["categorical_features"] = [0, 1, 2]
        weight = random.integers(0, 4, len(y)) / 2 if name == "weighted" else None
        return Case(
            PrunedTreeClassifier(cv=cv, random_state=7, **grow, **parameters),
            DecisionTreeClassifier(random_state=7, **grow),
            X,
            classes,
            weight,
        )
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:160], y[:160]
    if name == "absolute":
        grow["criterion"] = "absolute_error"
    if name == "poisson":
        grow["criterion"], y = "poisson", np.round(y / 60)
    if name == "best_first":
        grow = {"max_leaf_nodes": 25}
    weight = random.random(len(y)) + 0.1 if name == "uneven" else None
    return Case(
        PrunedTreeRegressor(cv=cv, random_state=7, **grow, **parameters),
        DecisionTreeRegressor(random_state=7, **grow),
        X,
        y,
        weight,
    )


def naive_curve(
    case: Case, alphas: Array, folds: list[tuple[Array, Array]]
) -> tuple[Array, Array, Array]:
    """Mean, standard error over the folds, and training error, by fitting at every price."""
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    if case.pruned.get_params().get("class_weight"):
        weight = weight * np.array([case.plain.class_weight[label] for label in case.y])
    middles = [*(np.sqrt(a * b) for a, b in pairwise(alphas)), 1e9]
    errors = np.empty((len(folds), len(alphas)))
    shares = np.array([weight[test].sum() for _, test in folds]) / sum(
        weight[test].sum() for _, test in folds
    )
    for k, (train, test) in enumerate(folds):
        for i, alpha in enumerate(middles):
            tree = clone(case.plain).set_params(ccp_alpha=alpha)
            tree.fit(case.X[train], case.y[train], None if case.weight is None else weight[train])
            loss = case.loss(case.y[test], tree.predict(case.X[test]))
            errors[k, i] = np.average(loss, weights=weight[test])
    mean = shares @ errors
    spread = np.sqrt(shares @ (errors - mean) ** 2 / (len(folds) - 1))
    train_error = [
        np.average(
            case.loss(case.y, clone(case.plain).set_params(ccp_alpha=alpha)
                      .fit(case.X, case.y, case.weight).predict(case.X)),
            weights=weight,
        )
        for alpha in alphas
    ]  # fmt: skip
    return mean, spread, np.array(train_error)


@pytest.mark.parametrize(
    "name",
    [*CLASSES, "squared", "uneven", "absolute", "poisson", "best_first"],
)
def test_the_curve_matches_refitting_at_every_alpha(name: str) -> None:
    case = cases(name)
    positive = np.flatnonzero(np.ones(len(case.y)) if case.weight is None else case.weight)
    splitter = KFold(4, shuffle=True, random_state=1)
    folds = [(positive[a], positive[b]) for a, b in splitter.split(positive)]
    model = case.pruned.set_params(cv=folds).fit(case.X, case.y, case.weight)
    curve = model.pruning_curve_
    assert len(curve.alpha) > 10
    mean, spread, train_error = naive_curve(case, curve.alpha, folds)
    assert_allclose(curve.mean_error, mean, rtol=1e-10, atol=1e-14)
    assert_allclose(curve.standard_error, spread, rtol=1e-8, atol=1e-14)
    assert_allclose(curve.train_error, train_error, rtol=1e-10, atol=1e-14)

    # The one-standard-error rule, from its definition.
    least = min(zip(mean.round(12), curve.n_leaves, strict=True))[1]
    at = int(np.flatnonzero(curve.n_leaves == least)[0])
    within = curve.n_leaves[mean <= mean[at] + spread[at] + 1e-12]
    assert model.get_n_leaves() == within.min()
    assert clone(model).set_params(rule="min").fit(
        case.X, case.y, case.weight
    ).get_n_leaves() == least  # fmt: skip


@pytest.mark.parametrize("name", ["gini", "weighted", "features", "uneven", "absolute"])
def test_the_plain_tree_at_the_selected_alpha_is_the_same(name: str) -> None:
    case = cases(name)
    model = case.pruned.fit(case.X, case.y, case.weight)
    plain = case.plain.set_params(ccp_alpha=model.ccp_alpha_).fit(case.X, case.y, case.weight)
    assert arrays_of(model) == arrays_of(plain)
    curve = model.pruning_curve_
    assert curve.best_index == model.best_index_
    assert curve.alpha[curve.best_index] == model.ccp_alpha_
    assert curve.n_leaves[curve.best_index] == model.get_n_leaves()
    assert_array_equal(model.predict(case.X), plain.predict(case.X))
    assert_array_equal(model.apply(case.X), plain.apply(case.X))


def test_selection_rules_match_values_by_hand() -> None:
    """Every fold's tree splits x at 0.5. The root alone predicts the majority of the other rows.

    x       0 0 0 0   1 1 1 1    two leaves     others   root   wrong
    fold 1  a a a a   b b b b    0 of 8 wrong   8a 8b    a      4 of 8
    fold 2  a a a a   b b b a    1 of 8         7a 9b    b      5 of 8
    fold 3  a b a a   b b b b    1 of 8         9a 7b    a      5 of 8
    """
    x = np.tile(np.repeat([0.0, 1.0], 4), 3)[:, np.newaxis]
    y = np.array(list("aaaabbbbaaaabbbaabaabbbb"))
    cv = PredefinedSplit(np.repeat([0, 1, 2], 8))
    model = PrunedTreeClassifier(cv=cv).fit(x, y)
    curve = model.pruning_curve_
    # Gini of the root 1/2, of either side 2 (1/12) (11/12); two leaves share the weight.
    assert_allclose(curve.alpha, [0.0, 1 / 2 - 2 * 11 / 144], atol=1e-15)
    assert_array_equal(curve.n_leaves, [2, 1])
    assert_allclose(curve.mean_error, [2 / 24, 14 / 24])
    for entry, wrong in enumerate(([0, 1, 1], [4, 5, 5])):
        expected = np.std(np.array(wrong) / 8, ddof=1) / np.sqrt(3)
        assert_allclose(curve.standard_error[entry], expected)
    assert_allclose(curve.train_error, [2 / 24, 12 / 24])
    assert (model.best_index_, curve.min_index, model.get_n_leaves()) == (0, 0, 2)


def test_one_standard_error_prunes_more_than_the_minimum() -> None:
    case = cases("gini")
    smaller = 0
    for seed in range(8):
        rule = clone(case.pruned).set_params(random_state=seed).fit(case.X, case.y)
        least = clone(rule).set_params(rule="min").fit(case.X, case.y)
        curve = rule.pruning_curve_
        assert_array_equal(curve.mean_error, least.pruning_curve_.mean_error)
        limit = curve.mean_error[curve.min_index] + curve.standard_error[curve.min_index]
        assert curve.mean_error[curve.best_index] <= limit
        assert np.all(curve.mean_error[curve.best_index + 1 :] > limit)
        assert least.best_index_ == curve.min_index <= rule.best_index_
        smaller += rule.get_n_leaves() < least.get_n_leaves()
    assert smaller >= 4


def test_the_smallest_of_equally_good_trees_is_selected() -> None:
    """Noise: every size is equally wrong on held-out rows that are all of one class."""
    x = np.arange(24.0)[:, np.newaxis]
    y = np.zeros(24)
    y[[3, 11]] = 1
    train, test = np.arange(16), np.arange(16, 24)
    for rule in ("min", "1se"):
        model = PrunedTreeClassifier(cv=[(train, test), (train, test)], rule=rule).fit(x, y)
        assert len(model.pruning_curve_.alpha) > 1
        assert_array_equal(model.pruning_curve_.mean_error, 0.0)
        assert model.get_n_leaves() == 1


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_available_cores", lambda: 8)


@pytest.mark.usefixtures("eight_cores")
@pytest.mark.parametrize("pruning", ["cost_complexity", "reduced_error"])
@pytest.mark.parametrize("name", ["gini", "weighted", "features", "uneven"])
def test_bytes_do_not_depend_on_the_number_of_threads(name: str, pruning: str) -> None:
    case = cases(name, cv=5, pruning=pruning)
    models = [clone(case.pruned).set_params(n_jobs=n).fit(case.X, case.y, case.weight)
              for n in (1, 2, 3, 8)]  # fmt: skip
    for other in models[1:]:
        assert arrays_of(other) == arrays_of(models[0])
        if pruning == "cost_complexity":
            ours, theirs = vars(models[0].pruning_curve_), vars(other.pruning_curve_)
            assert {k: np.asarray(v).tobytes() for k, v in ours.items()} == {
                k: np.asarray(v).tobytes() for k, v in theirs.items()
            }


def test_weight_two_matches_a_repeated_row() -> None:
    case = cases("gini")
    twice = np.random.default_rng(0).random(len(case.y)) < 0.5
    rows = np.concatenate([np.arange(len(case.y)), np.flatnonzero(twice)])
    group = np.arange(len(case.y)) % 5
    weighted = clone(case.pruned).set_params(cv=PredefinedSplit(group), min_samples_leaf=1)
    repeated = clone(weighted).set_params(cv=PredefinedSplit(group[rows]))
    a = weighted.fit(case.X, case.y, 1.0 + twice)
    b = repeated.fit(case.X[rows], case.y[rows])
    assert_allclose(a.pruning_curve_.mean_error, b.pruning_curve_.mean_error, rtol=1e-12)
    assert_allclose(a.pruning_curve_.standard_error, b.pruning_curve_.standard_error, rtol=1e-9)
    assert arrays_of(a, "n_node_samples") == arrays_of(b, "n_node_samples")


@pytest.mark.parametrize("pruning", ["cost_complexity", "reduced_error"])
@pytest.mark.parametrize("name", ["weighted", "uneven"])
def test_weights_are_relative_and_zeros_are_ignored(name: str, pruning: str) -> None:
    case = cases(name, pruning=pruning)
    assert case.weight is not None
    model = case.pruned.fit(case.X, case.y, case.weight)
    for factor in (2.0**-900, 2.0**900):
        scaled = clone(case.pruned).fit(case.X, case.y, case.weight * factor)
        assert_array_equal(scaled.predict(case.X), model.predict(case.X))
    kept = case.weight > 0
    without = clone(case.pruned).fit(case.X[kept], case.y[kept], case.weight[kept])
    assert arrays_of(without) == arrays_of(model)


@pytest.mark.parametrize("pruned", [PrunedTreeClassifier, PrunedTreeRegressor])
def test_a_tree_of_one_leaf_is_supported(pruned: Any) -> None:
    model = pruned().fit(np.zeros((20, 1)), np.arange(20) % 2)
    assert model.get_n_leaves() == 1
    assert model.ccp_alpha_ == 0.0
    assert_array_equal(model.pruning_curve_.n_leaves, [1])
    constant = pruned().fit(np.arange(20.0)[:, np.newaxis], np.ones(20))
    assert constant.get_n_leaves() == 1
    assert constant.pruning_curve_.mean_error[0] == 0.0


def test_a_fold_can_lack_a_class() -> None:
    x = np.arange(30.0)[:, np.newaxis]
    y = np.repeat(["a", "b", "c"], 10)
    model = PrunedTreeClassifier(cv=KFold(3), rule="min").fit(x, y)  # sorted: each fold one class
    assert_array_equal(model.pruning_curve_.mean_error, 1.0)
    rare = np.where(np.arange(30) == 4, "z", y)
    assert PrunedTreeClassifier(cv=10, random_state=0).fit(x, rare).n_classes_ == 4


def test_sorted_rows_are_shuffled_and_stratified() -> None:
    x = np.arange(60.0)[:, np.newaxis]
    y = np.repeat([0, 1, 2], [40, 14, 6])
    for seed in range(5):
        model = PrunedTreeClassifier(cv=6, rule="min", random_state=seed).fit(x, y)
        assert model.get_n_leaves() == 3
        assert model.pruning_curve_.mean_error.min() < 0.1
    slope = PrunedTreeRegressor(cv=6, random_state=0, rule="min").fit(x, x[:, 0])
    assert slope.get_n_leaves() > 20


def test_an_int_gives_stratified_folds_of_similar_size() -> None:
    y = np.repeat([0, 1, 2], [41, 15, 7])
    rows = np.setdiff1d(np.arange(len(y)), [0, 50])
    folds = fold_splits(5, y, rows, stratify=True, seed=3)
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), rows)
    for train, test in folds:
        assert_array_equal(np.sort(np.concatenate([train, test])), rows)
        assert 12 <= len(test) <= 13
        assert np.all(np.abs(np.bincount(y[test], minlength=3) - np.array([8, 2.8, 1.4])) < 1)
    other = fold_splits(5, y, rows, stratify=True, seed=4)
    assert any(len(a[1]) != len(b[1]) or (a[1] != b[1]).any()
               for a, b in zip(folds, other, strict=True))  # fmt: skip
    train, aside = hold_out(0.3, y, rows, stratify=True, seed=3)
    assert len(aside) == int(61 * 0.3)
    assert_array_equal(np.sort(np.concatenate([train, aside])), rows)
    assert np.all(np.abs(np.bincount(y[aside], minlength=3) - 18 / 61 * np.array([40, 14, 7])) < 1)


@pytest.mark.parametrize("cv", [StratifiedKFold(4), LeaveOneOut(), [(range(100), range(100, 150))]])
def test_splitters_and_iterables_are_accepted(cv: Any) -> None:
    case = cases("gini", cv=cv, rule="min", max_depth=3)
    model = case.pruned.fit(case.X, case.y)
    assert model.get_n_leaves() > 1
    single = isinstance(cv, list)
    assert np.isnan(model.pruning_curve_.standard_error).all() == single


def generator() -> Iterator[tuple[Array, Array]]:
    yield np.arange(75), np.arange(75, 150)
    yield np.arange(150) >= 75, np.arange(150) < 75  # masks


def test_a_generator_of_splits_is_accepted() -> None:
    case = cases("gini")
    model = case.pruned.set_params(cv=generator()).fit(case.X, case.y)
    assert np.isfinite(model.pruning_curve_.standard_error).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"cv": 151},
            "cv=151 folds require at least as many rows of positive weight.*n_samples=150",
        ),
        ({"cv": 1}, "'cv' parameter"),
        ({"cv": "five"}, "as an integer, a cross-validation object"),
        ({"cv": [([0, 1], [150])]}, "row 150 in split 0, but the table has rows 0 to 149"),
        ({"cv": [([0, 1], [[2]])]}, "shape (1, 1)"),
        ({"cv": [([0.5], [2])]}, "type float64 in split 0"),
        ({"cv": [([], [2])]}, "no training row of positive weight in fold 0"),
        ({"cv": [([1], [])]}, "no fold with a held-out row of positive weight"),
        ({"cv": []}, "no fold with a held-out row of positive weight"),
        ({"cv": [([0, 1], [2])]}, "rule='1se' requires at least two folds"),
        ({"rule": "2se"}, "'rule' parameter"),
        ({"pruning": "reduced_error", "validation_fraction": 0.001}, "less than one row"),
        ({"pruning": "reduced_error", "validation_fraction": 1.0}, "'validation_fraction'"),
    ],
)
def test_invalid_arguments_are_refused(parameters: dict[str, Any], message: str) -> None:
    case = cases("gini")
    pattern = message if ".*" in message else re.escape(message)
    with pytest.raises(ValueError, match=pattern):
        case.pruned.set_params(**parameters).fit(case.X, case.y)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_targets_whose_squares_exceed_float64_are_refused(factor: float) -> None:
    case = cases("squared")
    with pytest.raises(ValueError, match="squared differences of y overflow or underflow float64"):
        case.pruned.fit(case.X, case.y * factor)
    absolute = cases("absolute")
    model = absolute.pruned.fit(case.X, case.y)
    scaled = clone(absolute.pruned).fit(case.X, case.y * 2.0**600)
    assert_array_equal(scaled.predict(case.X), model.predict(case.X) * 2.0**600)


def test_folds_of_zero_counts_are_refused() -> None:
    x, y = np.arange(20.0)[:, np.newaxis], np.repeat([0.0, 3.0], 10)
    model = PrunedTreeRegressor(criterion="poisson", cv=KFold(2))
    with pytest.raises(ValueError, match="y is 0 in all training rows of fold 1"):
        model.fit(x, y)


def test_refitting_with_another_method_resets_attributes() -> None:
    case = cases("gini")
    model = case.pruned.fit(case.X, case.y)
    assert model.ccp_alpha_ > 0.0
    model.set_params(pruning="reduced_error").fit(case.X, case.y)
    assert model.pruning_curve_ is None
    for name in ("ccp_alpha_", "best_index_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("pruning", ["cost_complexity", "reduced_error"])
def test_a_saved_model_keeps_its_curve_but_not_its_splitter(pruning: str, tmp_path: Path) -> None:
    case = cases("gini", cv=StratifiedKFold(3), pruning=pruning)
    model = case.pruned.fit(case.X, case.y)
    with pytest.warns(UserWarning, match="cv is not saved"):
        model.save(tmp_path / "tree")
    again = load(tmp_path / "tree")
    assert again.cv == 10
    assert arrays_of(again) == arrays_of(model)
    if pruning == "cost_complexity":
        assert again.ccp_alpha_ == model.ccp_alpha_
        for name, value in vars(model.pruning_curve_).items():
            assert_array_equal(getattr(again.pruning_curve_, name), value)


def test_an_invalid_curve_is_refused(tmp_path: Path) -> None:
    case = cases("gini")
    model = case.pruned.fit(case.X, case.y)
    curve = model.pruning_curve_
    for damaged in (
        replace(curve, best_index=len(curve.alpha)),
        replace(curve, alpha=curve.alpha[1:]),
        None,
    ):
        model.pruning_curve_ = damaged
        model.save(tmp_path / "tree")
        with pytest.raises(ModelFormatError, match="pruning.curve"):
            load(tmp_path / "tree")


def test_every_container_is_supported() -> None:
    case = cases("gini")
    model = case.pruned.fit(case.X, case.y)
    frame = pd.DataFrame(case.X, columns=list("uvwxyz"))
    of_frame = clone(case.pruned).fit(frame, pd.Series(case.y))
    assert arrays_of(of_frame) == arrays_of(model)
    assert list(of_frame.feature_names_in_) == list("uvwxyz")
    sparse = clone(case.pruned).fit(csr_array(case.X), case.y)
    assert arrays_of(sparse) == arrays_of(model)
    assert_array_equal(sparse.pruning_curve_.mean_error, model.pruning_curve_.mean_error)
    holes = np.where(np.random.default_rng(0).random(case.X.shape) < 0.1, np.nan, case.X)
    assert clone(case.pruned).fit(holes, case.y).score(holes, case.y) > 0.4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_all_folds(n_jobs: int) -> None:
    random = np.random.default_rng(2)
    X, y = random.normal(size=(4_000, 40)), random.normal(size=4_000)
    model = PrunedTreeRegressor(cv=1_000, n_jobs=n_jobs)
    pressed = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.5, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):  # a thousand folds take far longer
            model.fit(X, y)
        assert time.monotonic() - pressed[0] < 1.0
    finally:
        timer.cancel()
    assert not hasattr(model, "tree_")
    assert model.set_params(cv=3).fit(X[:100], y[:100]).get_n_leaves() >= 1


@pytest.mark.parametrize("pruning", ["cost_complexity", "reduced_error"])
def test_a_pickled_model_predicts_the_same(pruning: str) -> None:
    case = cases("gini", pruning=pruning)
    model = case.pruned.fit(case.X, case.y)
    copy = pickle.loads(pickle.dumps(model))
    assert arrays_of(copy) == arrays_of(model)
    assert_array_equal(copy.predict_proba(case.X), model.predict_proba(case.X))
    if pruning == "cost_complexity":
        assert_array_equal(copy.pruning_curve_.mean_error, model.pruning_curve_.mean_error)


def test_all_parameters_of_plain_trees_but_ccp_alpha_exist() -> None:
    own = {"pruning", "rule", "cv", "validation_fraction"}
    for pruned, plain in (
        (PrunedTreeClassifier(), DecisionTreeClassifier()),
        (PrunedTreeRegressor(), DecisionTreeRegressor()),
    ):
        parameters = pruned.get_params()
        assert {k: v for k, v in parameters.items() if k not in own} == {
            k: v for k, v in plain.get_params().items() if k != "ccp_alpha"
        }


def test_the_pruning_path_of_the_whole_tree_is_available() -> None:
    case = cases("gini")
    ours = case.pruned.cost_complexity_pruning_path(case.X, case.y)
    theirs = case.plain.cost_complexity_pruning_path(case.X, case.y)
    assert_array_equal(ours.ccp_alphas, theirs.ccp_alphas)
    assert not hasattr(case.pruned, "tree_")


def test_the_curve_gives_a_frame() -> None:
    case = cases("gini")
    curve = case.pruned.fit(case.X, case.y).pruning_curve_
    frame = curve.to_frame()
    assert list(frame) == ["alpha", "n_leaves", "mean_error", "standard_error", "train_error"]
    assert_array_equal(frame["n_leaves"], curve.n_leaves)


def test_the_curve_is_plotted() -> None:
    figures = pytest.importorskip("matplotlib.figure")
    case = cases("gini")
    curve = case.pruned.fit(case.X, case.y).pruning_curve_
    ax = figures.Figure().add_subplot()
    assert curve.plot(ax=ax) is ax
    drawn = {line.get_label(): line.get_xydata() for line in ax.lines}
    train = np.column_stack([curve.n_leaves, curve.train_error])
    assert_array_equal(drawn["training rows"], train)
    chosen = drawn[f"chosen: {curve.n_leaves[curve.best_index]} leaves"]
    assert_array_equal(chosen[0], [curve.n_leaves[curve.best_index],
                                   curve.mean_error[curve.best_index]])  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_spambase_is_pruned_like_in_the_book(seed: int) -> None:
    """Hastie, Tibshirani and Friedman (2009), figures 9.4 and 9.5: 17 leaves, 9.3 % test error."""
    frame = pd.read_csv(shared_data("spambase/spam_esl.csv.gz"))
    test = frame.pop("test").to_numpy() == 1
    y = frame.pop("spam").to_numpy()
    model = PrunedTreeClassifier(
        criterion="entropy", min_samples_split=20, min_samples_leaf=7, random_state=seed
    ).fit(frame[~test], y[~test])
    assert 14 <= model.get_n_leaves() <= 24
    assert 0.08 <= 1 - model.score(frame[test], y[test]) <= 0.10


@pytest.mark.parametrize("pruning", ["cost_complexity", "reduced_error"])
def test_pruned_trees_follow_constraints(pruning: Any) -> None:
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (600, 2))
    y = X[:, 0] + np.sin(6 * X[:, 1]) + random.normal(0, 0.5, 600)
    rising = X + np.array([0.3, 0.0])
    regressor = PrunedTreeRegressor(pruning=pruning, monotonic_cst=[1, 0], random_state=0)
    regressor.fit(X, y)
    assert regressor.get_n_leaves() > 2
    assert (regressor.predict(rising) >= regressor.predict(X)).all()
    classifier = PrunedTreeClassifier(pruning=pruning, monotonic_cst=[1, 0], random_state=0)
    classifier.fit(X, y > 0)
    assert classifier.get_n_leaves() > 2
    assert (classifier.predict_proba(rising)[:, 1] >= classifier.predict_proba(X)[:, 1]).all()
