"""`max_iter="auto"`, `n_estimators="auto"`: the mean of models that folds of the rows stop."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score, train_test_split

import arboleda
from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda._base.folds import fold_splits
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.table import check_table
from arboleda.boosting import _auto
from arboleda.boosting._auto import (
    HISTOGRAM_VALUES,
    MEMBERS,
    SHARED_VALUES,
    choose_n_members,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 4))
X[RANDOM.random(X.shape) < 0.05] = np.nan
SCORE = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2]) + RANDOM.normal(size=400)
Y = np.digitize(SCORE, [-0.7, 0.7])

MODELS = {
    "hist classes": (HistGradientBoostingClassifier(max_iter="auto", random_state=1), Y),
    "hist regressor": (HistGradientBoostingRegressor(max_iter="auto", random_state=1), SCORE),
    "exact binary": (GradientBoostingClassifier(n_estimators="auto", random_state=1), Y > 0),
    "exact regressor": (
        GradientBoostingRegressor(n_estimators="auto", init="zero", random_state=1),
        SCORE,
    ),
}


@pytest.fixture
def all_columns(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Automatic values without random draws, so that no seed matters."""
    values = {name: value for name, value in HISTOGRAM_VALUES.items() if name != "max_features"}
    monkeypatch.setattr(HistGradientBoostingClassifier, "_automatic_values", values)
    monkeypatch.setattr(_auto, "VARIANTS", ({},))
    return values


def test_the_model_is_the_mean_of_models_stopped_on_their_folds(
    all_columns: dict[str, Any],
) -> None:
    # Five values a column, so that the bins of all rows are those of any four folds.
    coarse = np.clip(X.round(), -2, 2)
    model = HistGradientBoostingClassifier(max_iter="auto", random_state=1).fit(coarse, Y)
    scores, rounds = np.zeros((400, 3)), 0
    folds = fold_splits(5, Y.astype(float), np.arange(400), stratify=True, seed=model.seed_)
    for learn, held_out in folds:
        member = HistGradientBoostingClassifier(max_iter=1000, **all_columns, **SHARED_VALUES)
        member.fit(coarse[learn], Y[learn], X_val=coarse[held_out], y_val=Y[held_out])
        scores += member.decision_function(coarse) / 5
        rounds += member.n_iter_
    assert model.n_iter_ == rounds
    np.testing.assert_allclose(
        model.predict_proba(coarse), softmax(scores, axis=1), rtol=1e-9, atol=1e-12
    )


def test_the_mean_of_ensembles_averages_their_scores_at_each_stage() -> None:
    members = [
        HistGradientBoostingClassifier(max_iter=n, subsample=0.5, random_state=n).fit(X, Y)
        for n in (3, 5, 5)
    ]
    mean = Ensemble.mean_of([member.ensemble_ for member in members])
    table = members[0]._check_input(X)
    whole = np.mean([member.decision_function(X) for member in members], axis=0)
    np.testing.assert_allclose(mean.scores(table), whole, rtol=1e-9, atol=1e-12)
    assert (mean.n_outputs, mean.n_rounds) == (3, 13)
    stages = [list(member.staged_decision_function(X)) for member in members]
    third = list(mean.staged_scores(table))[8]  # three rounds of each
    thirds = np.mean([each[2] for each in stages], axis=0)
    np.testing.assert_allclose(third, thirds, rtol=1e-9, atol=1e-12)
    binary = HistGradientBoostingClassifier(max_iter=2).fit(X, Y > 0)
    with pytest.raises(ValueError, match="equal outputs"):
        Ensemble.mean_of([members[0].ensemble_, binary.ensemble_])
    with pytest.raises(ValueError, match="at least one ensemble"):
        Ensemble.mean_of([])


@pytest.mark.parametrize("name", MODELS)
def test_threads_and_files_change_no_byte(name: str, tmp_path: Any) -> None:
    model, y = MODELS[name]
    one = clone(model).set_params(n_jobs=1).fit(X, y)
    three = clone(model).set_params(n_jobs=3).fit(X, y)
    assert pickle.dumps(one.ensemble_) == pickle.dumps(three.ensemble_)
    one.save(tmp_path / "model.arboleda")
    again = arboleda.load(tmp_path / "model.arboleda")
    np.testing.assert_array_equal(again.predict(X), one.predict(X))
    assert one.best_iteration_ > 5
    stages = list(one.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], one.predict(X))


def test_a_notebook_shows_an_automatic_model() -> None:
    model = HistGradientBoostingRegressor(max_iter="auto", random_state=0)
    assert "max_iter" in model._repr_html_()
    assert "n_iter_" in model.fit(X, SCORE)._repr_html_()


def test_automatic_rounds_beat_the_defaults_when_a_hundred_are_too_many() -> None:
    cancer, y = load_breast_cancer(return_X_y=True)
    plain, automatic = (
        cross_val_score(model, cancer, y, scoring="neg_log_loss", cv=3).mean()
        for model in (
            HistGradientBoostingClassifier(),
            HistGradientBoostingClassifier(max_iter="auto", random_state=0),
        )
    )
    assert automatic > 1.1 * plain  # both are negative: the loss must fall by a tenth
    assert automatic > plain


def test_given_validation_rows_stop_one_model() -> None:
    learn, held_out, y, y_val = train_test_split(X, Y, random_state=0)
    model = HistGradientBoostingClassifier(max_iter="auto", random_state=0)
    model.fit(learn, y, X_val=held_out, y_val=y_val)
    values = {**HISTOGRAM_VALUES, **SHARED_VALUES}
    by_hand = HistGradientBoostingClassifier(max_iter=1000, random_state=0, **values)
    by_hand.fit(learn, y, X_val=held_out, y_val=y_val)
    assert model.n_iter_ == by_hand.n_iter_
    np.testing.assert_allclose(model.predict_proba(held_out), by_hand.predict_proba(held_out))


def test_one_model_of_many_rows_is_refit_on_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_auto, "MEMBERS", ())
    model = HistGradientBoostingRegressor(max_iter="auto", random_state=0).fit(X, SCORE)
    tree = model.ensemble_.trees[0]
    assert tree.n_node_samples[0] == len(X)  # all rows, the tenth that stopped it included
    leaf = tree.apply(check_table(model, X, reset=False))
    start = model.ensemble_.start[0]
    for node in np.unique(leaf):
        mean = np.mean(SCORE[leaf == node]) - start
        assert tree.value[node, 0, 0] == pytest.approx(0.05 * mean, rel=1e-9)


def test_make_variants_keeps_given_parameters() -> None:
    model = HistGradientBoostingRegressor(max_iter="auto", max_features=0.9, random_state=0)
    variants = _auto.make_variants(model, HISTOGRAM_VALUES, 5)
    assert [way.get("extra_trees") for way in variants] == [None, True]
    assert all("max_features" not in way for way in variants)
    assert len(_auto.make_variants(model, HISTOGRAM_VALUES, 1)) == 1
    model.set_params(extra_trees=True)
    assert len(_auto.make_variants(model, HISTOGRAM_VALUES, 5)) == 1
    exact = GradientBoostingRegressor(n_estimators="auto")
    assert len(_auto.make_variants(exact, _auto.EXACT_VALUES, 5)) == 1


def test_variants_alternate_unless_the_first_is_clearly_better() -> None:
    variants: list[dict[str, Any]] = [{}, {"extra_trees": True}]
    assert _auto.select_variants(variants, [-1.0, -1.05], 100) == variants
    assert _auto.select_variants(variants, [-1.05, -1.0], 100) == variants[::-1]
    assert _auto.select_variants(variants, [-1.0, -1.2], 100) == variants[:1]
    assert _auto.select_variants(variants, [-1.2, -1.0], 100) == variants[::-1]
    assert _auto.select_variants(variants, [-1.0, -1.05], 10_000) == variants[:1]
    assert _auto.select_variants(variants, [0.0, 0.0], 100) == variants
    assert _auto.select_variants(variants[:1], [-1.0], 100) == variants[:1]


def test_a_variant_clearly_better_on_the_first_fold_is_used_for_all() -> None:
    """Random thresholds miss the jumps of this target."""
    model = HistGradientBoostingRegressor(max_iter="auto", random_state=1)
    target = 3.0 * (X[:, 0] > 0.31) + 2.0 * (X[:, 1] > -0.47)
    chosen = clone(model).fit(X, target).predict(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_auto, "VARIANTS", ({},))
        np.testing.assert_array_equal(clone(model).fit(X, target).predict(X), chosen)


def test_given_parameters_are_kept() -> None:
    slow = HistGradientBoostingRegressor(max_iter="auto", random_state=0)
    fast = clone(slow).set_params(learning_rate=0.3)
    stumps = clone(slow).set_params(max_leaf_nodes=2)
    assert fast.fit(X, SCORE).n_iter_ < slow.fit(X, SCORE).n_iter_
    assert all(tree.n_leaves <= 2 for tree in stumps.fit(X, SCORE).ensemble_.trees)


def test_weights_and_categorical_columns_are_used() -> None:
    random = np.random.default_rng(1)
    mixed = np.array(["a", "b", "c", None], dtype=object)[random.integers(0, 4, (400, 1))]
    table = np.hstack([X.astype(object), mixed])
    y = np.where(mixed[:, 0] == "a", 3.0, 0.0) + SCORE
    weight = np.where(np.arange(400) < 300, 1.0, 0.0)
    model = HistGradientBoostingRegressor(max_iter="auto", categorical_features=[4], random_state=0)
    weighted = clone(model).fit(table, y, sample_weight=weight)
    wild = np.where(weight > 0, y, 1e6)  # targets of weight 0 are ignored
    same = clone(model).fit(table, wild, sample_weight=weight)
    np.testing.assert_array_equal(weighted.predict(table), same.predict(table))
    gap = weighted.predict(table)[mixed[:, 0] == "a"].mean()
    assert gap - weighted.predict(table)[mixed[:, 0] == "b"].mean() > 2.0


@pytest.mark.filterwarnings("ignore:early stopping kept no tree")
@pytest.mark.parametrize("n", [1, 2, 4, 6, 18])
def test_few_rows_are_fitted(n: int) -> None:
    y = np.arange(n) % 2
    model = HistGradientBoostingClassifier(max_iter="auto").fit(X[:n], y)
    assert model.predict_proba(X).shape == (400, len(set(y)))
    pairs = HistGradientBoostingClassifier(max_iter="auto").fit(X[:n], np.arange(n) // 2)
    assert pairs.predict(X[:n]).shape == (n,)
    exact = GradientBoostingRegressor(n_estimators="auto").fit(X[:n], y)
    assert np.isfinite(exact.predict(X)).all()


def test_another_score_can_stop_boosting() -> None:
    model = HistGradientBoostingClassifier(max_iter="auto", scoring="roc_auc", random_state=0)
    model.fit(X, Y > 0)
    by_loss = clone(model).set_params(scoring="loss").fit(X, Y > 0)
    assert model.n_iter_ != by_loss.n_iter_
    assert log_loss(Y > 0, by_loss.predict_proba(X)) < log_loss(Y > 0, np.full(400, 0.5))


def test_number_of_members_falls_with_the_rows() -> None:
    assert [choose_n_members(n) for n in (10, MEMBERS[0][0], MEMBERS[0][0] + 1, 10**7)] == [
        5,
        5,
        3,
        1,
    ]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (HistGradientBoostingClassifier(max_iter="auto", warm_start=True), "warm_start=True"),
        (HistGradientBoostingClassifier(max_iter="auto", drop_rate=0.1), "drop_rate=0.1"),
        (HistGradientBoostingClassifier(max_iter="auto", early_stopping=False), "early_stopping"),
        (GradientBoostingClassifier(n_estimators="auto", warm_start=True), "n_estimators"),
        (HistGradientBoostingClassifier(max_iter="many"), "max_iter"),
        (
            HistGradientBoostingClassifier(max_iter="auto", loss=lambda y, raw: (raw - y, raw)),
            "custom loss",
        ),
        (
            GradientBoostingRegressor(n_estimators="auto", init=HistGradientBoostingRegressor()),
            "init",
        ),
    ],
)
def test_incompatible_options_are_refused(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y > 0)
