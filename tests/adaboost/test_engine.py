"""Our trees, boosted by the engine, match the rounds of the same trees fitted one by one."""

from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from tests.persist.twin import FileTwin

import arboleda
from arboleda import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ModelFormatError,
)
from arboleda._base.folds import hold_out
from arboleda.adaboost._algorithms import ALGORITHMS


class Hidden(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Our tree, in a class that the engine does not recognize."""

    def __init__(self, max_depth: int = 1) -> None:
        self.max_depth = max_depth

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.tree_ = DecisionTreeClassifier(max_depth=self.max_depth).fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.tree_.predict_proba(X)


@pytest.mark.filterwarnings("ignore:boosting ended after")
@pytest.mark.parametrize(
    ("algorithm", "depth", "n_classes"),
    [
        *((algorithm, depth, 2) for algorithm in ("discrete", "M1", "SAMME") for depth in (1, 3)),
        ("M1", 3, 3),
        ("SAMME", 1, 3),
        ("SAMME", 3, 4),
        ("real", 1, 2),
        ("real", 1, 3),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_match_trees_fitted_one_by_one(
    algorithm: Any, depth: int, n_classes: int, weighted: bool
) -> None:
    X, y = make_classification(200, 6, n_informative=4, n_classes=n_classes, random_state=depth)
    weight = np.random.default_rng(0).integers(0, 3, 200) if weighted else None
    options: dict[str, Any] = {"n_estimators": 15, "algorithm": algorithm, "learning_rate": 0.8}
    if weighted:
        options["weight_trimming"] = 0.1
    if algorithm == "real":  # pure leaves: soon the last digits of tiny weights decide
        options["n_estimators"] = 6
    ours, others = (
        AdaBoostClassifier(member, **options).fit(X, y, sample_weight=weight)
        for member in (DecisionTreeClassifier(max_depth=depth), Hidden(depth))
    )
    assert len(ours) == len(others)
    for name in ("estimator_weights_", "estimator_errors_", "normalizers_", "edges_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(others, name), rtol=1e-9)
    for stage, other in zip(
        ours.staged_decision_function(X), others.staged_decision_function(X), strict=True
    ):
        np.testing.assert_allclose(stage, other, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.margins(X, y), others.margins(X, y), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), others.predict(X))


def test_a_perfect_last_member_decides_alone() -> None:
    X, y = np.arange(8.0).reshape(-1, 1), np.array([0, 0, 1, 1, 1, 1, 0, 0])
    for member in (DecisionTreeClassifier(max_depth=2), Hidden(2)):
        model = AdaBoostClassifier(member, algorithm="M1").fit(X, y)
        assert len(model) == 1
        assert model.estimator_errors_[0] == 0.0
        assert model.score(X, y) == 1.0
        assert (model.margins(X, y) == 1.0).all()


@pytest.mark.parametrize("hidden", [False, True])
def test_a_useless_member_ends_boosting(hidden: bool) -> None:
    """No column separates the rows: the best constant is a random guess under the next weights."""
    X, y = np.zeros((10, 1)), np.arange(10) < 3
    member = Hidden() if hidden else DecisionTreeClassifier(max_depth=1)
    model = AdaBoostClassifier(member, algorithm="discrete")
    with pytest.warns(UserWarning, match="ended after 1 of 50 rounds: .* below 1/2"):
        model.fit(X, y)
    assert model.estimator_errors_.tolist() == pytest.approx([0.3])
    resets = AdaBoostClassifier(member, n_estimators=6, on_degenerate="reset", random_state=0)
    resets.fit(X, y)
    assert len(resets) == 6
    assert np.isnan(resets.training_error_bound_[-1])


@pytest.mark.parametrize("hidden", [False, True])
def test_m1_explains_its_failure_on_many_classes(hidden: bool) -> None:
    X, y = load_wine(return_X_y=True)
    y = np.arange(len(y)) % 6
    member = Hidden() if hidden else None
    with pytest.raises(
        ValueError, match=r"below 1/2 \(y has 6 classes\): use 'SAMME', .* 'M2' or 'MH'"
    ):
        AdaBoostClassifier(member, algorithm="M1").fit(X, y)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("algorithm", ["SAMME", "real"])
def test_early_stopping_returns_to_the_best_round(algorithm: Any, hidden: bool) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.2, 1 - y, y)
    member = Hidden(2) if hidden else DecisionTreeClassifier(max_depth=2)
    model = AdaBoostClassifier(
        member, n_estimators=60, algorithm=algorithm, n_iter_no_change=8, random_state=1
    ).fit(X, y)
    errors = model.validation_errors_
    assert len(errors) < 60
    assert model.best_iteration_ == len(model) == np.argmin(errors) + 1 == len(errors) - 8


@pytest.mark.parametrize("max_bins", [None, 20])
def test_held_out_rows_are_not_trained_on(max_bins: int | None) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    aside = rows_set_aside(y, seed=3)
    changed = X.copy()
    changed[aside] = np.linspace(-1e6, 1e6, len(aside))[:, np.newaxis]
    tree = DecisionTreeClassifier(max_depth=2, max_bins=max_bins)
    options: dict[str, Any] = {"n_estimators": 10, "n_iter_no_change": 10, "random_state": 3}
    models = [AdaBoostClassifier(tree, **options).fit(table, y) for table in (X, changed)]
    n = min(map(len, models))
    assert n > 1 or len(models[0]) > 3
    first, second = (model.estimator_errors_[:n] for model in models)
    np.testing.assert_array_equal(first, second)
    for one, other in zip(models[0].estimators_[:n], models[1].estimators_[:n], strict=True):
        np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)


def rows_set_aside(y: Any, seed: int) -> Any:
    """Rows that ``random_state=seed`` holds out: its second draw is the seed of the split."""
    parting = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=2)[1]
    return hold_out(0.1, y, np.arange(len(y)), stratify=True, seed=int(parting))[1]


@pytest.mark.parametrize(("algorithm", "most"), [("discrete", 0.13), ("real", 0.07)])
def test_boosted_stumps_beat_one_stump_and_one_tree(algorithm: Any, most: float) -> None:
    """Ten normal columns: Hastie, Tibshirani and Friedman (2009), figure 10.2."""
    random = np.random.default_rng(0)
    tables = [random.normal(size=(n_rows, 10)) for n_rows in (2000, 10_000)]
    (X, y), (new, classes) = [(table, (table**2).sum(axis=1) > 9.34) for table in tables]
    stump, tree = (DecisionTreeClassifier(max_depth=depth).fit(X, y) for depth in (1, None))
    assert 0.44 < 1 - stump.score(new, classes) < 0.48
    assert 0.23 < 1 - tree.score(new, classes) < 0.28
    model = AdaBoostClassifier(n_estimators=400, algorithm=algorithm).fit(X, y)
    assert 1 - model.score(new, classes) < most


@pytest.mark.parametrize("hidden", [False, True])
def test_the_scale_of_weights_does_not_matter(hidden: bool) -> None:
    X, y = load_wine(return_X_y=True)
    member = Hidden() if hidden else DecisionTreeClassifier(max_depth=1)
    plain, large = (
        AdaBoostClassifier(member, n_estimators=4).fit(X, y, sample_weight=np.full(len(y), size))
        for size in (1.0, 2.0**1015)
    )
    np.testing.assert_array_equal(plain.decision_function(X), large.decision_function(X))


def test_threads_change_no_bit() -> None:
    X, y = make_classification(3000, 8, n_informative=5, n_classes=3, random_state=0)
    models = [
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 3)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.estimator_errors_, models[0].estimator_errors_)
        np.testing.assert_array_equal(model.decision_function(X), models[0].decision_function(X))


def mixed_table() -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(5)
    X = pd.DataFrame(random.normal(size=(240, 3)).round(2), columns=["a", "b", "c"])
    X.loc[::9, "b"] = np.nan
    X["colour"] = pd.Categorical(np.array(["red", "green", "blue"])[random.integers(0, 3, 240)])
    score = X["a"] + np.where(X["colour"] == "red", 2, 0) + X["b"].fillna(1)
    return X, np.array(["low", "mid", "high"])[np.digitize(score, [0.0, 1.5])]


@pytest.mark.filterwarnings("ignore:estimator is not saved")
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS.keys() - {"discrete"}))
def test_tables_with_categories_and_gaps_are_saved_and_loaded(
    algorithm: Any, tmp_path: Path
) -> None:
    X, y = mixed_table()
    kind = DecisionTreeRegressor if algorithm in {"gentle", "logit"} else DecisionTreeClassifier
    tree = kind(max_depth=2)
    model = AdaBoostClassifier(tree, n_estimators=12, algorithm=algorithm).fit(X, y)
    assert model.score(X, y) > 0.75
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    shuffled = X[["colour", "c", "a", "b"]]
    model.save(tmp_path / "model.arboleda")
    loaded = arboleda.load(tmp_path / "model.arboleda")
    for name in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(loaded, name)(shuffled), getattr(model, name)(X))
    np.testing.assert_array_equal(loaded.margins(X, y), model.margins(X, y))
    np.testing.assert_array_equal(loaded.normalizers_, model.normalizers_)
    one, other = (np.ravel(np.array(m.estimators_, dtype=object))[3] for m in (loaded, model))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    again = tmp_path / "again.arboleda"
    loaded.save(again)
    first = model.set_params(estimator=None)
    first.save(tmp_path / "model.arboleda")
    assert again.read_bytes() == (tmp_path / "model.arboleda").read_bytes()


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("algorithm", ["M2", "MR", "MH"])
def test_a_single_member_predicts_probabilities(
    algorithm: Any, n_classes: int, rate: float, tmp_path: Path
) -> None:
    """Those of an ensemble of its round alone, though its votes are scores."""
    X, y = mixed_table()
    y = np.where(y == "mid", "low", y) if n_classes == 2 else y
    tree = DecisionTreeClassifier(max_depth=2)
    model = AdaBoostClassifier(tree, n_estimators=5, algorithm=algorithm, learning_rate=rate)
    model.fit(X, y)
    forest = model._members.weighted.forest
    for number, member in enumerate(model.estimators_):
        p = member.predict_proba(X)
        assert p.shape == (len(X), n_classes)
        assert ((p >= 0) & (p <= 1)).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        grown = forest.tree(number)
        scores = grown.predict(model._members.checked(model, X))
        np.testing.assert_array_equal(
            member.predict(X), model.classes_[scores.argmax(axis=1)], strict=True
        )
        np.testing.assert_array_equal(
            member.feature_importances_, grown.compute_feature_importances()
        )
    first = clone(model).set_params(n_estimators=1, learning_rate=1.0).fit(X, y)
    np.testing.assert_allclose(
        model.estimators_[0].predict_proba(X), first.predict_proba(X), rtol=1e-12
    )
    model.estimators_[1].save(tmp_path / "member.arboleda")
    loaded = arboleda.load(tmp_path / "member.arboleda")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.estimators_[1].predict_proba(X))


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_one_class_is_a_constant(algorithm: Any, tmp_path: Path) -> None:
    X = np.arange(12.0).reshape(-1, 2)
    for model in (AdaBoostClassifier(algorithm=algorithm), AdaBoostClassifier(GaussianNB())):
        model.fit(X, ["only"] * 6)
        assert set(model.predict(X)) == {"only"}
        assert (model.predict_proba(X) == 1.0).all()
        assert (model.margins(X, ["only"] * 6) == 1.0).all()
    AdaBoostClassifier(algorithm=algorithm).fit(X, [3] * 6).save(tmp_path / "model.arboleda")
    assert (arboleda.load(tmp_path / "model.arboleda").predict(X) == 3).all()


def test_members_of_other_types_are_not_saved(tmp_path: Path) -> None:
    X, y = load_wine(return_X_y=True)
    model = AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(X, y)
    with pytest.raises(TypeError, match="only supports arboleda trees"):
        model.save(tmp_path / "model.arboleda")


def _damaged(part: str, value: Any) -> Any:
    def damage(header: dict[str, Any]) -> None:
        header["fitted"]["_members"][part] = value

    return damage


def _of_another_algorithm(header: dict[str, Any]) -> None:
    header["parameters"]["algorithm"] = "real"


def _of_other_classes(header: dict[str, Any]) -> None:
    header["fitted"]["classes_"]["values"].append(7)


def _of_fewer_rounds(header: dict[str, Any]) -> None:
    header["fitted"]["_members"]["rounds"].pop("reset")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_damaged("vote", "loudest"), "no valid vote type"),
        (_damaged("vote", "scores"), "votes of the members do not match the algorithm"),
        (_damaged("trees_a_round", True), "no valid number of trees per round"),
        (_damaged("trees_a_round", 10**9), "no valid number of trees per round"),
        (_damaged("trees_a_round", 3), "one weight a member is needed"),
        (_damaged("rounds", []), "does not describe its rounds"),
        (_damaged("more", 1), "does not describe the members"),
        (_of_another_algorithm, "votes of the members do not match the algorithm"),
        (_of_other_classes, "number of classes of the members differs from the header"),
        (_of_fewer_rounds, "does not describe its rounds"),
    ],
)
def test_a_damaged_header_is_refused(damage: Any, message: str, tmp_path: Path) -> None:
    X, y = load_wine(return_X_y=True)
    path = tmp_path / "model.arboleda"
    AdaBoostClassifier(n_estimators=3).fit(X, y).save(path)
    twin = FileTwin.read(path.read_bytes())
    header = twin.json
    damage(header)
    path.write_bytes(twin.with_json(header).write())
    with pytest.raises(ModelFormatError, match=message):
        arboleda.load(path)


def test_incompatible_parameters_are_refused() -> None:
    X, y = load_wine(return_X_y=True)
    for options, message in [
        ({"algorithm": "discrete"}, "y has 3 classes: use 'SAMME'"),
        (
            {"algorithm": "logit", "estimator": GaussianNB()},
            "needs members that are regressors, but .* GaussianNB",
        ),
        ({"algorithm": "M2", "estimator": Ridge()}, "classifiers, but estimator is a Ridge"),
        ({"algorithm": "m1"}, "algorithm"),
        ({"weight_trimming": 1.0}, "weight_trimming"),
    ]:
        with pytest.raises(ValueError, match=message):
            AdaBoostClassifier(**options).fit(X, y)
    with pytest.raises(NotFittedError):
        AdaBoostClassifier().predict(X)
    model = AdaBoostClassifier().fit(X, y)
    with pytest.raises(ValueError, match="y is 7 in row 0, which is not a class"):
        model.margins(X, np.full(len(y), 7))
