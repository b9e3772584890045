"""Rounds: stages, warm start, early stopping, histories, callbacks."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor as PeerRegressor
from sklearn.metrics import log_loss, roc_auc_score

from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda._base.folds import fold_splits
from arboleda.boosting import BoostingRound

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(600, 4))
X[RANDOM.random(X.shape) < 0.05] = np.nan
SCORE = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2]) + RANDOM.normal(size=600)
Y = np.digitize(SCORE, [-0.7, 0.7])

MODELS = {
    "exact classifier": (GradientBoostingClassifier(n_estimators=10), Y),
    "exact binary": (GradientBoostingClassifier(n_estimators=10, subsample=0.6), Y > 0),
    "exact regressor": (GradientBoostingRegressor(n_estimators=10, max_features=2), SCORE),
    "hist classifier": (HistGradientBoostingClassifier(max_iter=10), Y),
    "hist binary": (HistGradientBoostingClassifier(max_iter=10, subsample=0.5), Y > 0),
    "hist regressor": (HistGradientBoostingRegressor(max_iter=10, max_features=0.5), SCORE),
    "goss": (HistGradientBoostingRegressor(max_iter=10, sampling="goss"), SCORE),
}


def rounds(model: Any, n: int) -> dict[str, int]:
    return {"n_estimators" if hasattr(model, "n_estimators") else "max_iter": n}


@pytest.mark.parametrize("name", MODELS)
def test_the_last_stage_is_the_model(name: str) -> None:
    model, y = MODELS[name]
    model = clone(model).set_params(random_state=0).fit(X, y)
    methods = ["predict"]
    if hasattr(model, "classes_"):
        methods += ["predict_proba", "decision_function"]
    for method in methods:
        stages = list(getattr(model, f"staged_{method}")(X))
        assert len(stages) == model.best_iteration_ == 10
        np.testing.assert_array_equal(stages[-1], getattr(model, method)(X))
        first = clone(model).set_params(**rounds(model, 1)).fit(X, y)
        np.testing.assert_array_equal(stages[0], getattr(first, method)(X))
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y)
    assert scores[-1] > scores[0]


@pytest.mark.parametrize("name", MODELS)
def test_a_continued_fit_matches_a_single_fit(name: str) -> None:
    model, y = MODELS[name]
    model = clone(model).set_params(random_state=0)
    half = clone(model).set_params(warm_start=True, **rounds(model, 5)).fit(X, y)
    half = pickle.loads(pickle.dumps(half))  # a run interrupted in between
    half.set_params(**rounds(model, 10)).fit(X, y)
    whole = model.fit(X, y)
    assert pickle.dumps(half.ensemble_) == pickle.dumps(whole.ensemble_)


RECORDS = ("train_score_", "validation_score_", "oob_scores_", "oob_improvement_", "oob_score_")


@pytest.mark.parametrize("begun", [1, 5])
@pytest.mark.parametrize("name", [*MODELS, "scored", "weighted", "dropped"])
def test_records_of_a_continued_fit_match_those_of_a_single_fit(name: str, begun: int) -> None:
    more = {
        "scored": (
            HistGradientBoostingRegressor(
                max_iter=10, early_stopping=True, n_iter_no_change=20, scoring="r2", subsample=0.5
            ),
            SCORE,
        ),
        "weighted": (
            GradientBoostingClassifier(
                n_estimators=10, subsample=0.4, n_iter_no_change=20, loss="exponential"
            ),
            Y > 0,
        ),
        "dropped": (
            GradientBoostingRegressor(n_estimators=10, drop_rate=0.5, subsample=0.5),
            SCORE,
        ),
    }
    model, y = (MODELS | more)[name]
    weight = RANDOM.integers(1, 3, size=600) if name == "weighted" else None
    model = clone(model).set_params(random_state=0)
    part = clone(model).set_params(warm_start=True, **rounds(model, begun)).fit(X, y, weight)
    first = {name: entries.copy() for name, entries in part.history_.items()}
    part.set_params(**rounds(model, 10)).fit(X, y, weight)
    whole = clone(model).fit(X, y, weight)
    assert part.history_.keys() == whole.history_.keys()
    for record, entries in whole.history_.items():
        np.testing.assert_array_equal(part.history_[record], entries)
        np.testing.assert_array_equal(part.history_[record][: begun + 1], first[record])
    for record in RECORDS:
        assert hasattr(part, record) == hasattr(whole, record)
        if hasattr(whole, record):
            np.testing.assert_array_equal(getattr(part, record), getattr(whole, record))


@pytest.mark.parametrize("library", ["ours", "scikit-learn"])
def test_continued_rounds_keep_recorded_ones(library: str) -> None:
    """The same rule as scikit-learn's, also where the continuing fit draws other rows."""
    maker = GradientBoostingRegressor if library == "ours" else PeerRegressor
    full = np.nan_to_num(X)
    model = maker(n_estimators=4, subsample=0.5, warm_start=True, random_state=0).fit(full, SCORE)
    before = {name: np.copy(getattr(model, name)) for name in RECORDS if hasattr(model, name)}
    assert before.keys() == {"train_score_", "oob_scores_", "oob_improvement_", "oob_score_"}
    model.set_params(n_estimators=7).fit(full[:400], SCORE[:400])
    for name in ("train_score_", "oob_scores_", "oob_improvement_"):
        np.testing.assert_array_equal(getattr(model, name)[:4], before[name])
        assert np.isfinite(getattr(model, name)).all()
    np.testing.assert_allclose(model.oob_improvement_[1:], -np.diff(model.oob_scores_))
    assert model.oob_score_ == model.oob_scores_[-1]


def test_rounds_before_rows_were_drawn_have_no_out_of_bag_loss() -> None:
    model = GradientBoostingRegressor(n_estimators=4, warm_start=True, random_state=0)
    model.fit(X, SCORE).set_params(n_estimators=7, subsample=0.5).fit(X, SCORE)
    assert np.isnan(model.oob_scores_[:3]).all()
    assert np.isfinite(model.oob_improvement_[4:]).all()


def test_continuing_checks_its_rounds_and_classes() -> None:
    model = HistGradientBoostingClassifier(max_iter=5, warm_start=True).fit(X, Y)
    with pytest.raises(
        ValueError, match=r"max_iter=3 must be larger than or equal to n_iter_=5 when"
    ):
        model.set_params(max_iter=3).fit(X, Y)
    with pytest.raises(ValueError, match=r"the class np.int64\(7\) in row 0"):
        model.set_params(max_iter=6).fit(X, np.full(600, 7))
    assert model.n_iter_ == 5


def test_histogram_boosting_returns_to_the_best_round() -> None:
    model = HistGradientBoostingClassifier(
        max_iter=300, early_stopping=True, n_iter_no_change=6, learning_rate=0.3, random_state=0
    ).fit(X, Y > 0)
    losses = model.history_["validation_loss"]
    assert model.best_iteration_ == model.n_iter_ == losses.argmin() < len(losses) - 1 < 300
    assert len(losses) - 1 - model.n_iter_ <= 6
    assert model.do_early_stopping_
    np.testing.assert_array_equal(model.validation_score_, -losses[: model.n_iter_ + 1])
    np.testing.assert_array_equal(
        model.train_score_, -model.history_["train_loss"][: model.n_iter_ + 1]
    )
    short = clone(model).set_params(max_iter=model.n_iter_).fit(X, Y > 0)
    assert pickle.dumps(short.ensemble_) == pickle.dumps(model.ensemble_)


NOISE = np.random.default_rng(3).permutation(SCORE)
KEPT_NO_TREE = "early stopping kept no tree, .* no round was better on the "


@pytest.mark.parametrize(
    ("model", "own_rows", "message"),
    [
        (
            HistGradientBoostingRegressor(early_stopping=True, validation_fraction=7),
            False,
            (
                r"7 validation rows\. .* raise validation_fraction, set validation_folds=5 "
                r"\(validates on all rows\), lower learning_rate, or set early_stopping=False$"
            ),
        ),
        (
            HistGradientBoostingRegressor(
                early_stopping=True, validation_folds=4, learning_rate=1.0
            ),
            False,
            "4 folds of 300 rows.*, lower learning_rate, or set early_stopping=False$",
        ),
        (
            HistGradientBoostingRegressor(
                early_stopping=True, validation_fraction=None, min_samples_leaf=200
            ),
            False,
            "300 training rows.*, lower learning_rate, or set early_stopping=False$",
        ),
        (
            HistGradientBoostingRegressor(learning_rate=1.0),
            True,
            "1 validation row.*, give more rows as X_val and y_val, lower learning_rate, or set",
        ),
        (
            HistGradientBoostingRegressor(max_iter="auto", min_samples_leaf=200),
            False,
            "300 rows.*, set max_iter to",
        ),
        (
            GradientBoostingRegressor(
                n_iter_no_change=3, validation_fraction=0.3, learning_rate=1.0
            ),
            False,
            (
                "90 validation rows.* raise validation_fraction, lower learning_rate, or set "
                "n_iter_no_change=None$"
            ),
        ),
        (
            GradientBoostingRegressor(n_estimators="auto"),
            True,
            "1 validation row.*, set n_estimators to a number$",
        ),
    ],
    ids=["rows", "folds", "training rows", "own rows", "auto", "exact", "exact auto"],
)
def test_early_stopping_that_keeps_no_tree_raises_a_warning(
    model: Any, own_rows: bool, message: str
) -> None:
    """The columns are noise, or one validation row is worse with any tree."""
    model = clone(model).set_params(random_state=8)
    own = {"X_val": X[:1], "y_val": [float(NOISE[:300].mean())]} if own_rows else {}
    with pytest.warns(UserWarning, match=KEPT_NO_TREE + message) as caught:
        model.fit(X[:300], NOISE[:300], **own)
    assert [warning.filename for warning in caught] == [__file__]
    assert model.best_iteration_ == 0
    assert np.ptp(model.predict(X)) == 0.0


@pytest.mark.parametrize("maker", [HistGradientBoostingRegressor, GradientBoostingRegressor])
def test_no_warning_is_raised_where_trees_are_kept_or_nothing_stops(maker: Any) -> None:
    """Warnings are errors here."""
    stops = (
        {"early_stopping": True} if hasattr(maker(), "early_stopping") else {"n_iter_no_change": 3}
    )
    assert maker(**stops, random_state=0).fit(X, SCORE).best_iteration_ > 0
    assert maker(**rounds(maker(), 3)).fit(X, NOISE).best_iteration_ == 3
    constant = maker(**rounds(maker(), 2)).fit(np.zeros((50, 2)), np.zeros(50))
    assert constant.best_iteration_ == 2


def test_exact_boosting_returns_to_the_best_round() -> None:
    model = GradientBoostingRegressor(
        n_estimators=300, n_iter_no_change=5, learning_rate=0.3, validation_fraction=0.2,
        random_state=1,
    ).fit(X, SCORE)  # fmt: skip
    losses = model.history_["validation_loss"]
    assert model.n_estimators_ == losses.argmin() < len(losses) - 1 < 300
    # The last round was not better by tol than any of the five before it.
    assert losses[-1] + model.tol >= losses[-6:-1].max()
    assert model.train_score_.shape == (model.n_estimators_,)


@pytest.mark.parametrize("maker", [HistGradientBoostingClassifier, GradientBoostingClassifier])
def test_given_validation_rows_choose_the_rounds(maker: Any) -> None:
    options = (
        {"early_stopping": "auto"}
        if maker is HistGradientBoostingClassifier
        else {"n_iter_no_change": 4}
    )
    model = maker(random_state=0, learning_rate=0.3, **options)
    model.fit(X[:400], Y[:400], X_val=X[400:], y_val=Y[400:])
    stages = [log_loss(Y[400:], p) for p in model.staged_predict_proba(X[400:])]
    kept = model.history_["validation_loss"][1 : model.best_iteration_ + 1]
    np.testing.assert_allclose(kept, stages, rtol=1e-9)
    with pytest.raises(ValueError, match="y_val was not provided"):
        maker().fit(X, Y, X_val=X)
    with pytest.raises(ValueError, match="among the validation rows: .*class np.int64"):
        maker(**options).fit(X, Y, X_val=X, y_val=Y + 5)


@pytest.mark.parametrize(
    ("maker", "y"),
    [
        (HistGradientBoostingClassifier, Y),
        (HistGradientBoostingClassifier, Y > 0),
        (HistGradientBoostingRegressor, SCORE),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_choose_the_rounds(maker: Any, y: Any, weighted: bool) -> None:
    # So few values that all of them are among the rows of each fold: the bins are the same.
    few = np.clip(np.round(X), -2, 2)
    weight = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else np.ones(len(y))
    how = {"max_leaf_nodes": 6, "n_iter_no_change": 5, "early_stopping": True, "random_state": 0}
    model = maker(validation_folds=4, **how).fit(few, y, weight)
    # The twin: models of the folds, each scored on its own fold, one after the other.
    curves, sizes = [], []
    rows, stratify = np.flatnonzero(weight), maker is HistGradientBoostingClassifier
    for learn, held_out in fold_splits(4, y, rows, stratify=stratify, seed=model.seed_):
        given = {
            "X_val": few[held_out],
            "y_val": y[held_out],
            "sample_weight_val": weight[held_out],
        }
        alone = maker(**how).fit(few[learn], y[learn], weight[learn], **given)
        curves.append(alone.history_["validation_loss"])
        sizes.append(weight[held_out].sum())
    assert len({len(curve) for curve in curves}) > 1, "all folds stop at once: tests too little"
    longest = max(map(len, curves))
    mean = np.average([np.pad(c, (0, longest - len(c)), mode="edge") for c in curves], 0, sizes)
    np.testing.assert_allclose(model.history_["validation_loss"], mean, rtol=1e-9)


def test_the_final_fit_uses_all_rows() -> None:
    model = HistGradientBoostingClassifier(
        early_stopping=True, validation_folds=5, max_iter=200, random_state=3
    ).fit(X, Y)
    assert 0 < model.n_iter_ < 200
    assert model.n_iter_ == np.argmax(-model.history_["validation_loss"])
    assert model.validation_score_.shape == model.train_score_.shape == (model.n_iter_ + 1,)
    assert model.do_early_stopping_
    np.testing.assert_array_equal(
        model.validation_score_, -model.history_["validation_loss"][: model.n_iter_ + 1]
    )
    plain = HistGradientBoostingClassifier(
        early_stopping=False, max_iter=model.n_iter_, random_state=3
    ).fit(X, Y)
    np.testing.assert_array_equal(plain.predict_proba(X), model.predict_proba(X))
    two = clone(model).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(two.predict_proba(X), model.predict_proba(X))


def test_cv_rounds_can_use_a_scorer() -> None:
    model = HistGradientBoostingClassifier(
        early_stopping=True, validation_folds=3, scoring="roc_auc", max_iter=60, random_state=0
    ).fit(X, Y > 0)
    scores = model.history_["validation_score"]
    assert model.n_iter_ == np.argmax(scores)
    assert 0.5 < scores.max() < 1.0
    assert model.train_score_[-1] > scores.max()


def test_invalid_folds_are_refused() -> None:
    model = HistGradientBoostingRegressor(early_stopping=True, validation_folds=5)
    with pytest.raises(ValueError, match=r"validation_folds=5 is too many for n_samples=4"):
        model.fit(X[:4], SCORE[:4])
    with pytest.raises(
        ValueError, match="warm_start=True cannot be combined with validation_folds=5"
    ):
        clone(model).set_params(warm_start=True).fit(X, SCORE)
    with pytest.raises(ValueError, match="validation_folds"):
        clone(model).set_params(validation_folds=1).fit(X, SCORE)
    # Given validation rows take precedence, and without early stopping nothing is scored.
    given = clone(model).fit(X, SCORE, X_val=X[:50], y_val=SCORE[:50])
    plain = HistGradientBoostingRegressor(early_stopping=True)
    plain.fit(X, SCORE, X_val=X[:50], y_val=SCORE[:50])
    np.testing.assert_array_equal(given.predict(X), plain.predict(X))
    alone = np.arange(3)
    with pytest.raises(ValueError, match="every class must stay in the training rows"):
        HistGradientBoostingClassifier(early_stopping=True, validation_folds=2).fit(X[:3], alone)


def test_validation_rows_do_not_affect_binning() -> None:
    far = np.vstack([X[:300], X[300:] * 1e6])
    own = HistGradientBoostingRegressor(max_bins=8, max_iter=5)
    near = own.fit(X[:300], SCORE[:300], X_val=X[300:], y_val=SCORE[300:])
    thresholds = [tree.threshold for tree in near.ensemble_.trees[:1]]
    other = clone(own).fit(X[:300], SCORE[:300], X_val=far[300:], y_val=SCORE[300:])
    np.testing.assert_array_equal(thresholds[0], other.ensemble_.trees[0].threshold)


def test_scorers_evaluate_rounds() -> None:
    def auc(estimator: Any, X: Any, y: Any) -> float:
        assert X.shape in {(60, 4), (540, 4)}
        return float(roc_auc_score(y, estimator.predict_proba(X)[:, 1]))

    by_name, by_callable = (
        HistGradientBoostingClassifier(
            max_iter=30, early_stopping=True, scoring=scoring, random_state=0
        ).fit(X, Y > 0)
        for scoring in ("roc_auc", auc)
    )
    np.testing.assert_array_equal(
        by_name.history_["validation_score"], by_callable.history_["validation_score"]
    )
    assert by_name.n_iter_ == by_name.history_["validation_score"].argmax()
    assert by_name.train_score_.shape == (by_name.n_iter_ + 1,)
    assert by_name.train_score_[0] == 0.5


def test_training_rows_are_scored_without_a_holdout() -> None:
    model = HistGradientBoostingRegressor(
        max_iter=500, early_stopping=True, validation_fraction=None, tol=0.01, n_iter_no_change=3
    ).fit(X, SCORE)
    assert model.n_iter_ < 500
    assert model.validation_score_.size == 0
    accuracy = HistGradientBoostingClassifier(
        max_iter=200, early_stopping=True, validation_fraction=None, scoring=None, random_state=0
    ).fit(X, Y)
    assert accuracy.n_iter_ < 200
    assert accuracy.train_score_[-1] == accuracy.score(X, Y)


def test_automatic_early_stopping_requires_many_rows() -> None:
    model = HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=3)
    many = np.repeat(SCORE, 17)[:10_001]
    assert not model.fit(many[:10_000, None], many[:10_000]).do_early_stopping_
    assert model.fit(many[:, None], many).do_early_stopping_
    assert not model.set_params(drop_rate=0.1).fit(many[:, None], many).do_early_stopping_


def test_callbacks_receive_rounds_and_can_stop(capsys: pytest.CaptureFixture[str]) -> None:
    recorded: list[BoostingRound] = []

    def stop_at_seven(current: BoostingRound) -> bool:
        recorded.append(current)
        return current.iteration == 7

    model = HistGradientBoostingRegressor(callbacks=[stop_at_seven], verbose=1).fit(X, SCORE)
    assert model.n_iter_ == 7
    assert [current.iteration for current in recorded] == [1, 2, 3, 4, 5, 6, 7]
    assert recorded[-1].n_iterations == 100
    assert recorded[-1].validation_loss is None
    assert recorded[-1].train_loss == model.history_["train_loss"][7]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("round   1 of 100, training loss ")

    seen = []
    exact = GradientBoostingRegressor(n_estimators=9)
    exact.fit(
        X,
        SCORE,
        monitor=lambda i, estimator, recorded: seen.append((i, recorded["iteration"])) or i == 3,
    )
    assert seen == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert exact.n_estimators_ == 4


def test_out_of_bag_losses_are_recorded() -> None:
    model = GradientBoostingRegressor(n_estimators=20, subsample=0.5, random_state=0).fit(X, SCORE)
    assert model.oob_scores_.shape == model.oob_improvement_.shape == (20,)
    assert model.oob_score_ == model.oob_scores_[-1]
    np.testing.assert_allclose(model.oob_improvement_[1:], -np.diff(model.oob_scores_))
    assert model.oob_improvement_[0] > 0
    with pytest.raises(AttributeError, match="need subsample < 1"):
        GradientBoostingRegressor(n_estimators=1).fit(X, SCORE).oob_scores_


@pytest.mark.parametrize("maker", [HistGradientBoostingRegressor, GradientBoostingRegressor])
def test_dropped_trees_are_supported(maker: Any) -> None:
    """DART: the model differs from plain boosting, learns, and continues bit for bit."""
    model = maker(drop_rate=0.5, skip_drop=0.0, random_state=0, **rounds(maker(), 20))
    fitted = clone(model).fit(X, SCORE)
    plain = clone(model).set_params(drop_rate=0.0).fit(X, SCORE)
    assert not np.array_equal(fitted.predict(X), plain.predict(X))
    assert fitted.score(X, SCORE) > 0.2
    half = clone(model).set_params(warm_start=True, **rounds(model, 10)).fit(X, SCORE)
    half.set_params(**rounds(model, 20)).fit(X, SCORE)
    np.testing.assert_array_equal(half.predict(X), fitted.predict(X))
    stops = (
        {"early_stopping": True}
        if maker is HistGradientBoostingRegressor
        else {"n_iter_no_change": 3}
    )
    with pytest.raises(ValueError, match="cannot go back to the best round with drop_rate=0.5"):
        clone(model).set_params(**stops).fit(X, SCORE)
