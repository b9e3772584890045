"""Every parameter of an estimator that is fitted in shards has the effect that it has elsewhere."""

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.thread_shards import ThreadShards, cut, run_shards

import arboleda
from arboleda.boosting import fit_shard
from arboleda.persist import model_to_bytes

pytestmark = pytest.mark.filterwarnings("ignore:.* is not saved")

N, CUTS = 300, [100, 100]  # the second shard has no rows
RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(N, 3)).round(1), columns=["a", "b", "few"])
X["few"] = RANDOM.integers(0, 9, N)
X["kind"] = pd.Categorical(np.where(np.arange(N) < 150, "x", RANDOM.choice(list("uvwxyz"), N)))
NUMBERS = X["a"] + X["b"] * X["few"] + (X["kind"] == "x") + RANDOM.normal(size=N)
CLASSES = np.digitize(NUMBERS, [-2.0, 0.5, 3.0])
SURVIVAL = pd.DataFrame({"event": RANDOM.random(N) < 0.7, "time": RANDOM.integers(1, 40, N)})
QID = np.repeat(np.arange(N // 10), 10)
QUERY_CUTS = [90, 90, 120]  # the middles of shards, too, are between queries
FORCED = {"feature": "few", "threshold": 4.0, "left": {"feature": "a", "threshold": 0.1}}

# Other values than the defaults, by parameter, with what they need to have an effect.
SHARED: dict[str, list[dict[str, Any]]] = {
    "learning_rate": [{"learning_rate": 0.9}],
    "max_iter": [{"max_iter": 2}],
    "max_leaf_nodes": [{"max_leaf_nodes": None}, {"max_leaf_nodes": 4}],
    "max_depth": [{"max_depth": 2}],
    "min_samples_leaf": [{"min_samples_leaf": 60}],
    "l2_regularization": [{"l2_regularization": 9.0}],
    "max_features": [{"max_features": 0.5}],
    "max_bins": [{"max_bins": 5}],
    "categorical_features": [
        {"categorical_features": ["kind", "few"]},
        {"categorical_features": [2, 3]},
        {"categorical_features": [False, False, True, True]},
    ],
    "monotonic_cst": [{"monotonic_cst": {"b": -1, "few": 1}}, {"monotonic_cst": [0, 1, -1, 0]}],
    "interaction_cst": [
        {"interaction_cst": [{"a", "b"}, {2}]},
        {"interaction_cst": "pairwise"},
        {"interaction_cst": "no_interactions"},
    ],
    "warm_start": [{"warm_start": True}],
    "early_stopping": [{"early_stopping": True}],
    "validation_fraction": [
        {"early_stopping": True, "validation_fraction": 0.4},
        {"early_stopping": True, "validation_fraction": 70},
        {"early_stopping": True, "validation_fraction": None, "n_iter_no_change": 1, "tol": 9.0},
    ],
    "n_iter_no_change": [{"early_stopping": True, "n_iter_no_change": 1, "tol": 0.1}],
    "tol": [{"early_stopping": True, "n_iter_no_change": 2, "tol": 10.0}],
    "verbose": [{"verbose": 2}],
    "random_state": [{"random_state": np.random.RandomState(5), "subsample": 0.5}],
    "growth": [{"growth": "level_wise", "max_leaf_nodes": 5}, {"growth": "symmetric"}],
    "l1_regularization": [{"l1_regularization": 3.0}],
    "min_split_gain": [{"min_split_gain": 5.0}],
    "min_child_weight": [{"min_child_weight": 30.0}],
    "max_delta_step": [{"max_delta_step": 0.3}],
    "subsample": [{"subsample": 0.5}],
    "sampling": [{"sampling": "goss"}, {"sampling": "gradient", "subsample": 0.5}],
    "top_rate": [{"sampling": "goss", "top_rate": 0.4}],
    "other_rate": [{"sampling": "goss", "other_rate": 0.4}],
    "colsample_bytree": [{"colsample_bytree": 0.5}],
    "colsample_bylevel": [{"colsample_bylevel": 0.5}],
    "feature_weights": [
        {"feature_weights": {"few": 9.0, "kind": 0.0}, "max_features": 0.5},
        {"feature_weights": [1.0, 0.0, 3.0, 2.0], "colsample_bytree": 0.5},
    ],
    "forced_splits": [{"forced_splits": FORCED}],
    "extra_trees": [{"extra_trees": True}],
    "drop_rate": [{"drop_rate": 0.5, "skip_drop": 0.0}],
    "skip_drop": [{"drop_rate": 0.9, "skip_drop": 0.7}],
    "max_drop": [{"drop_rate": 0.9, "skip_drop": 0.0, "max_drop": 1}],
    "category_encoding": [{"category_encoding": "ordered"}],
    "cat_smooth": [{"categorical_features": ["kind", "few"], "cat_smooth": 90.0}],
    "cat_l2": [{"categorical_features": ["kind", "few"], "cat_l2": 90.0}],
    "linear_leaves": [{"linear_leaves": True}],
    "linear_l2": [{"linear_leaves": True, "linear_l2": 30.0}],
    "callbacks": [{"callbacks": [lambda progress: progress.iteration == 2]}],
    "n_jobs": [{"n_jobs": 2}],
}
BOOSTED: dict[str, list[dict[str, Any]]] = {
    "scoring": [{"early_stopping": True, "scoring": None}],
    "validation_folds": [
        {"early_stopping": True, "validation_folds": 2, "n_iter_no_change": 1, "tol": 9.0}
    ],
    "multi_strategy": [{"multi_strategy": "multi_output_tree"}],
    "output_sketch": [{"multi_strategy": "multi_output_tree", "output_sketch": "top"}],
    "sketch_dim": [
        {"multi_strategy": "multi_output_tree", "output_sketch": "sampling", "sketch_dim": 2}
    ],
}
OWN: dict[str, dict[str, list[dict[str, Any]]]] = {
    "Regressor": {
        "loss": [{"loss": "absolute_error"}, {"loss": lambda y, raw: (raw - y, np.ones_like(y))}],
        "quantile": [{"loss": "quantile", "quantile": [0.2, 0.7]}],
        "alpha": [{"loss": "huber", "alpha": 0.6}],
        "power": [{"loss": "tweedie", "power": 1.2}],
        "expectile": [{"loss": "expectile", "expectile": 0.8}],
        "huber_slope": [{"loss": "pseudo_huber", "huber_slope": 0.2}],
    },
    "Classifier": {
        "loss": [{"loss": "exponential"}],
        "focal_gamma": [{"loss": "focal", "focal_gamma": 3.0}],
        "class_weight": [{"class_weight": "balanced"}, {"class_weight": {1: 5.0, 0: 0.5}}],
    },
    "Ranker": {
        "loss": [{"loss": "xe_ndcg"}],
        "truncation_level": [{"truncation_level": 2}],
        "label_gain": [{"label_gain": [0.0, 1.0, 5.0, 6.0]}],
    },
    "Survival": {
        "loss": [{"loss": "aft"}],
        "ties": [{"ties": "breslow"}],
        "distribution": [{"loss": "aft", "distribution": "extreme"}],
        "scale": [{"loss": "aft", "scale": 0.6}],
        "periods": [{"loss": "discrete_time", "periods": 4}],
    },
}
WITHOUT_EFFECT = {"verbose", "n_jobs", "warm_start"}
BASE: dict[str, Any] = {"max_iter": 3, "random_state": 1, "min_samples_leaf": 5}


def list_cases() -> list[Any]:
    """The shared parameters are those of one class, whose code is that of all."""
    tables = [("Regressor", SHARED), ("Classifier", BOOSTED), *OWN.items()]
    return [
        pytest.param(kind, options, id=f"{kind}-{name}-{number}")
        for kind, table in tables
        for name, cases in table.items()
        for number, options in enumerate(cases)
    ]


def get_class(kind: str) -> Any:
    return getattr(arboleda, f"HistGradientBoosting{kind}")


@pytest.mark.parametrize("kind", OWN)
def test_every_parameter_has_a_case(kind: str) -> None:
    names = set(inspect.signature(get_class(kind)).parameters)
    shared = {*SHARED, *BOOSTED} if "scoring" in names else {*SHARED}
    assert names == {*shared, *OWN[kind]}
    assert all(name in options for name, cases in SHARED.items() for options in cases)


def make_target(kind: str, options: dict[str, Any]) -> Any:
    if kind == "Survival":
        return SURVIVAL
    if kind == "Classifier":
        has_two = options.get("loss") or "class_weight" in options
        return CLASSES % 2 if has_two else CLASSES
    if kind == "Ranker":
        return CLASSES
    return np.abs(NUMBERS) if options.get("loss") == "tweedie" else NUMBERS


@pytest.mark.parametrize(("kind", "options"), list_cases())
def test_the_model_is_the_same_byte_for_byte(
    kind: str, options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    model = get_class(kind)(**BASE | options)
    y, queries = make_target(kind, options), {"qid": QID} if kind == "Ranker" else {}
    whole = clone(model).fit(X, y, **queries)
    expected, printed = model_to_bytes(whole), capsys.readouterr().out
    cuts = QUERY_CUTS if queries else CUTS
    tables, targets, qids = cut(X, cuts), cut(y, cuts), cut(QID, cuts)

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        given: dict[str, Any] = {"qid": qids[k]} if queries else {}
        return fit_shard(clone(model), tables[k], targets[k], None, shards, **given)

    for fitted in run_shards(len(tables), fit):
        assert model_to_bytes(fitted) == expected
    assert len(capsys.readouterr().out.splitlines()) == len(printed.splitlines())
    default = get_class(kind)(**BASE).fit(X, y, **queries)
    is_changed = not np.array_equal(default._raw_scores(X), whole._raw_scores(X))
    assert is_changed != bool(options.keys() & WITHOUT_EFFECT)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("Regressor", {"effort": "normal", "cross_columns": True, "extra_trees": False}),
        ("Regressor", {"time_budget": 1e9, "learning_rate": 0.5, "max_leaf_nodes": 4}),
        ("Classifier", {"class_weight": "balanced", "multi_strategy": "multi_output_tree"}),
        ("Classifier", {"scoring": "balanced_accuracy", "n_iter_no_change": 1, "verbose": 1}),
    ],
)
def test_boosting_that_chooses_its_parameters(
    kind: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.boosting._auto.MAX_ROUNDS", 3)
    model = getattr(arboleda, f"Boosting{kind}")(
        **{"effort": "quick", "random_state": 0, **options}
    )
    y = NUMBERS if kind == "Regressor" else CLASSES
    expected = model_to_bytes(clone(model).fit(X, y))
    tables, targets = cut(X, CUTS), cut(y, CUTS)

    def fit(shards: ThreadShards) -> bytes:
        k = shards.number
        return model_to_bytes(fit_shard(clone(model), tables[k], targets[k], None, shards))

    assert run_shards(len(tables), fit) == [expected] * len(tables)
