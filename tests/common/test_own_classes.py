"""Textbook methods with a class of their own: the same bits as the general class by its name."""

import inspect
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier as SklearnTree
from sklearn.utils.estimator_checks import parametrize_with_checks

import arboleda
from arboleda import (
    DESP,
    KNORAE,
    KNORAU,
    LCA,
    MCB,
    METADES,
    OLA,
    RRC,
    SAMME,
    AdaBoostClassifier,
    AdaBoostM1,
    AdaBoostM2,
    AdaBoostMH,
    AdaBoostMR,
    AdaBoostR,
    AdaBoostR2,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    BalancedRandomForestClassifier,
    DecisionTreeClassifier,
    DynamicSelectionClassifier,
    GentleBoost,
    LogitBoost,
    MajorityVoteWithReject,
    MedianRule,
    NaiveBayesCombiner,
    PastingClassifier,
    PastingRegressor,
    ProductRule,
    QuantileRegressionForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomPatchesClassifier,
    RandomPatchesRegressor,
    RealAdaBoost,
    VotingClassifier,
    WeightedMajorityVote,
)
from arboleda._engine.model_file import PREAMBLE_SIZE, check_preamble
from arboleda.study.artifacts.model_files import read_model, save_model

MEMBERS = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
    ("deep", DecisionTreeClassifier(max_depth=5, max_features=2, random_state=0)),
]
# The class, parameters of both, the general class, and the parameters that the class fixes.
Pair = tuple[type[Any], dict[str, Any], type[Any], dict[str, Any]]
_DES: list[Pair] = [
    (kind, {"estimators": MEMBERS, **more}, DynamicSelectionClassifier, {"method": method})
    for kind, method, more in (
        (OLA, "ola", {}),
        (LCA, "lca", {"voting": "soft"}),
        (MCB, "mcb", {"similarity": 0.6}),
        (KNORAE, "knora_e", {"n_neighbors": 5}),
        (KNORAU, "knora_u", {}),
        (DESP, "des_p", {"cv": 3}),
        (METADES, "meta_des", {"meta_classifier": GaussianNB()}),
        (RRC, "rrc", {"n_neighbors": 20}),
    )
]
_BOOSTED: list[Pair] = [
    (kind, {"n_estimators": 8, "random_state": 0, **more}, AdaBoostClassifier, {"algorithm": name})
    for kind, name, more in (
        (AdaBoostM1, "M1", {"n_estimators": 20}),
        (AdaBoostM2, "M2", {"weight_trimming": 0.05}),
        (AdaBoostMH, "MH", {}),
        (AdaBoostMR, "MR", {"learning_rate": 0.5}),
        (SAMME, "SAMME", {"n_iter_no_change": 3}),
        (RealAdaBoost, "real", {}),
        (GentleBoost, "gentle", {}),
        (LogitBoost, "logit", {}),
    )
]
_BOOSTED_VALUES: list[Pair] = [
    (AdaBoostR, {"n_estimators": 5, "random_state": 0}, AdaBoostRegressor, {"algorithm": "R"}),
    (
        AdaBoostR2,
        {"n_estimators": 5, "loss": "square", "random_state": 0},
        AdaBoostRegressor,
        {"algorithm": "R2"},
    ),
]
_VOTES: list[Pair] = [
    (kind, {"estimators": MEMBERS, **more}, VotingClassifier, fixed)
    for kind, more, fixed in (
        (WeightedMajorityVote, {"cv": 3}, {"rule": "weighted"}),
        (
            MajorityVoteWithReject,
            {"weights": [1, 1, 1.5]},
            {"rule": "majority", "reject": True},
        ),
        (NaiveBayesCombiner, {}, {"rule": "naive_bayes"}),
        (ProductRule, {"weights": [1, 2, 3]}, {"rule": "geometric"}),
        (MedianRule, {"flatten_transform": False}, {"rule": "median"}),
    )
]
_SMALL = {"n_estimators": 40, "random_state": 0, "oob_score": True}
_BAGS: list[Pair] = [
    (PastingClassifier, {**_SMALL, "max_samples": 0.4}, BaggingClassifier, {"bootstrap": False}),
    (PastingRegressor, {**_SMALL, "max_samples": 0.4}, BaggingRegressor, {"bootstrap": False}),
    (
        RandomPatchesClassifier,
        {**_SMALL, "max_samples": 0.6, "max_features": 0.7},
        BaggingClassifier,
        {"bootstrap": False},
    ),
    (
        RandomPatchesRegressor,
        {**_SMALL, "max_samples": 0.6, "max_features": 3},
        BaggingRegressor,
        {"bootstrap": False},
    ),
]
_FORESTS: list[Pair] = [
    (
        BalancedRandomForestClassifier,
        _SMALL,
        RandomForestClassifier,
        {"bootstrap": "balanced"},
    ),
    (
        QuantileRegressionForest,
        {"n_estimators": 20, "random_state": 0, "min_samples_leaf": 3},
        RandomForestRegressor,
        {"keep_rows": True},
    ),
]
PAIRS = [*_DES, *_BOOSTED, *_BOOSTED_VALUES, *_VOTES, *_BAGS, *_FORESTS]
NAMES = [own.__name__ for own, *_ in PAIRS]
SAVED = [pair for pair in PAIRS if hasattr(pair[0], "save")]
pairs = pytest.mark.parametrize(("own", "given", "general", "fixed"), PAIRS, ids=NAMES)


def table(own: type[Any]) -> tuple[Any, Any]:
    return (
        load_iris(return_X_y=True) if is_classifier(own_of(own)) else load_diabetes(return_X_y=True)
    )


def own_of(own: type[Any]) -> Any:
    return own(MEMBERS) if "estimators" in inspect.signature(own).parameters else own()


def outputs(model: Any, X: Any) -> list[Any]:
    """All predictions of a fitted model; of the quantile forest those of its general class, too."""
    if isinstance(model, QuantileRegressionForest):
        return [model.predict(X, [0.1, 0.5, 0.9]), model.predict_interval(X)]
    if isinstance(model, RandomForestRegressor):
        return [model.predict_quantiles(X, [0.1, 0.5, 0.9]), model.predict_interval(X)]
    named = ("predict", "predict_proba", "decision_function", "transform")
    return [getattr(model, name)(X) for name in named if hasattr(model, name)]


def body(path: Path) -> bytes:
    """What follows the header of a model file: its trees and arrays."""
    content = path.read_bytes()
    return content[check_preamble(content[:PREAMBLE_SIZE], len(content)) :]


@pairs
def test_own_classes_have_the_bits_of_the_general_class(
    own: type[Any],
    given: dict[str, Any],
    general: type[Any],
    fixed: dict[str, Any],
    tmp_path: Path,
) -> None:
    X, y = table(own)
    mine, theirs = own(**given).fit(X, y), general(**given, **fixed).fit(X, y)
    for found, expected in zip(outputs(mine, X), outputs(theirs, X), strict=True):
        np.testing.assert_array_equal(found, expected)
    if hasattr(mine, "oob_score_"):
        assert mine.oob_score_ == theirs.oob_score_
    if hasattr(own, "save"):
        mine.save(tmp_path / "mine")
        theirs.save(tmp_path / "theirs")
        assert body(tmp_path / "mine") == body(tmp_path / "theirs")


@pairs
def test_parameters_match_the_general_class(
    own: type[Any], given: dict[str, Any], general: type[Any], fixed: dict[str, Any]
) -> None:
    listed = inspect.signature(own).parameters
    of_general = inspect.signature(general).parameters
    assert not listed.keys() & fixed.keys()
    assert listed.keys() <= of_general.keys()
    assert [p.kind for p in listed.values()] == [of_general[name].kind for name in listed]
    assert issubclass(own, general)
    assert own._parameter_constraints.keys() == listed.keys() & general._parameter_constraints
    made = own(**given)
    assert all(getattr(made, name) == value for name, value in fixed.items())
    with pytest.raises(ValueError, match="Invalid parameter"):
        made.set_params(**fixed)
    twin = clone(made)
    assert type(twin) is own
    assert repr(twin) == repr(made)
    # Parameters that the class neither lists nor fixes have the default of the general class.
    for name, parameter in of_general.items():
        if name not in listed and name not in fixed:
            assert getattr(made, name) == parameter.default


@pairs
def test_help_names_the_parameters_the_formula_and_the_source(
    own: type[Any], given: dict[str, Any], general: type[Any], fixed: dict[str, Any]
) -> None:
    text = inspect.getdoc(own) or ""
    sections = re.findall(r"^(\w[\w ]*)\n-+$", text, re.M)
    assert sections == ["Parameters", "Attributes", "See Also", "Notes", "References", "Examples"]
    for name, value in fixed.items():
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        assert f"``{name}={shown}``" in text
    assert f"`{general.__name__}`" in text
    parameters = text.split("\nParameters\n")[1].split("\nAttributes\n")[0]
    for name in inspect.signature(own).parameters:
        assert re.search(rf"^\s*([\w, ]*,\s+)?{name}\b", parameters, re.M), name
    assert re.search(r"\((18|19|20)\d\d\)", text.split("\nReferences\n")[1])


@pairs
def test_copies_keep_the_class(
    own: type[Any],
    given: dict[str, Any],
    general: type[Any],
    fixed: dict[str, Any],
    tmp_path: Path,
) -> None:
    X, y = table(own)
    model = own(**given).fit(X, y)
    copies = [pickle.loads(pickle.dumps(model))]
    if hasattr(own, "save"):
        model.save(tmp_path / "model")
        copies.append(arboleda.load(tmp_path / "model"))
    for copy in copies:
        assert type(copy) is own
        assert repr(copy) == repr(model)
        for found, expected in zip(outputs(copy, X), outputs(model, X), strict=True):
            np.testing.assert_array_equal(found, expected)
        assert all(getattr(copy, name) == value for name, value in fixed.items())


@pytest.mark.parametrize("pair", _DES, ids=lambda pair: pair[0].__name__)
def test_a_study_can_store_models_without_a_model_file(pair: Pair, tmp_path: Path) -> None:
    own, parameters, _, fixed = pair
    X, y = load_iris(return_X_y=True)
    members = [("logistic", LogisticRegression(max_iter=500)), ("bayes", GaussianNB())]
    model = own(**{**parameters, "estimators": members})
    pipeline = Pipeline([("preparation", "passthrough"), ("model", model)]).fit(X, y)
    kept = save_model(pipeline, tmp_path, "own")
    assert kept["error"] is None
    found = read_model(tmp_path, "own", kept["files"])
    assert type(found["model"]) is own
    np.testing.assert_array_equal(found.predict_proba(X), pipeline.predict_proba(X))
    model.method = "ola" if fixed["method"] != "ola" else "lca"
    refused = save_model(pipeline, tmp_path, "forged")["error"]
    assert f"method of its {own.__name__} is {model.method!r}" in refused


def test_model_files_cover_the_documented_classes() -> None:
    general = {DynamicSelectionClassifier}
    assert {pair[0] for pair in PAIRS} - {pair[0] for pair in SAVED} == {
        pair[0] for pair in PAIRS if pair[2] in general
    }


_NO_EXPORT = (DynamicSelectionClassifier, QuantileRegressionForest)
_C = [
    pair
    for pair in [*_BOOSTED, *_BOOSTED_VALUES, *_BAGS, *_FORESTS]
    if not issubclass(pair[0], _NO_EXPORT)
]


@pytest.mark.parametrize(
    ("own", "given", "general", "fixed"), _C, ids=[pair[0].__name__ for pair in _C]
)
def test_exports_match_the_general_class(
    own: type[Any], given: dict[str, Any], general: type[Any], fixed: dict[str, Any]
) -> None:
    pytest.importorskip("onnx")
    X, y = table(own)
    given = {name: value for name, value in given.items() if name != "oob_score"}
    mine, theirs = own(**given).fit(X, y), general(**given, **fixed).fit(X, y)
    named_alike = re.sub(rf"\b{own.__name__}\b", general.__name__, arboleda.to_c(mine))
    assert named_alike == arboleda.to_c(theirs)
    ours, others = arboleda.to_onnx(mine), arboleda.to_onnx(theirs)
    assert ours.graph.SerializeToString() == others.graph.SerializeToString()


def test_partial_dependence_walks_the_trees_of_own_classes() -> None:
    """Forests and bags predict all points at once, with the bits of the slow way."""
    X, y = load_breast_cancer(return_X_y=True)
    for own, given, general, fixed in [*_BAGS, *_FORESTS]:
        if not is_classifier(own_of(own)):
            continue
        mine, theirs = own(**given).fit(X, y), general(**given, **fixed).fit(X, y)
        found = arboleda.explain.partial_dependence(mine, X, 3, grid_resolution=5).average
        expected = arboleda.explain.partial_dependence(theirs, X, 3, grid_resolution=5).average
        np.testing.assert_array_equal(found, expected)


def test_grid_search_shares_the_trees_of_a_balanced_forest() -> None:
    from arboleda.model_selection import GridSearch

    X, y = load_breast_cancer(return_X_y=True)
    grid = {"n_estimators": [2, 5], "max_depth": [2]}
    own = GridSearch(BalancedRandomForestClassifier(random_state=0), grid, cv=3).fit(X, y)
    general = RandomForestClassifier(bootstrap="balanced", random_state=0)
    other = GridSearch(general, grid, cv=3).fit(X, y)
    np.testing.assert_array_equal(
        own.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    )
    assert type(own.best_estimator_) is BalancedRandomForestClassifier


# scikit-learn's own checks


_LINEAR = [("logistic", LogisticRegression()), ("strong", LogisticRegression(C=0.1))]
_VOTERS = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("deep", DecisionTreeClassifier(random_state=0)),
    ("same", DecisionTreeClassifier(random_state=0)),  # two that agree: no row is rejected
]
_CONFIGURATIONS = [
    *(kind(_LINEAR, cv=3) for kind in (OLA, LCA, MCB, KNORAE, KNORAU, DESP, METADES, RRC)),
    AdaBoostM1(SklearnTree(max_depth=3), n_estimators=3),
    *(kind(LogisticRegression(), n_estimators=2) for kind in (AdaBoostMH, RealAdaBoost)),
    *(kind(n_estimators=3) for kind in (AdaBoostM2, AdaBoostMR, SAMME, GentleBoost, LogitBoost)),
    AdaBoostR(n_estimators=4),
    AdaBoostR2(n_estimators=4),
    WeightedMajorityVote(_VOTERS, cv=2),
    NaiveBayesCombiner(_VOTERS, cv=2),
    MajorityVoteWithReject(_VOTERS),
    ProductRule(_VOTERS),
    MedianRule(_VOTERS),
    PastingClassifier(n_estimators=6),
    PastingRegressor(n_estimators=6),
    RandomPatchesClassifier(n_estimators=12),
    RandomPatchesRegressor(n_estimators=12),
    BalancedRandomForestClassifier(7),
    QuantileRegressionForest(10),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, MajorityVoteWithReject):
        reason = "its classes are -1 and 1, and -1 is the label of rows without a majority"
        return {"check_classifiers_classes": reason}
    drawn = BaggingClassifier | BaggingRegressor | RandomForestClassifier | RandomForestRegressor
    if isinstance(estimator, drawn | AdaBoostR2):
        reason = "another number of rows is another draw: alike on average alone"
    elif isinstance(estimator, OLA | LCA | MCB | KNORAU | DESP | RRC):
        reason = "weights are for the members: a judged row counts once, a row written twice twice"
    else:
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@pytest.mark.filterwarnings("ignore:boosting ended after", "ignore:the error of the first")
@parametrize_with_checks(
    _CONFIGURATIONS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
