"""Initial scores of rows: meaning, destination, errors; scores of every round."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss, make_scorer, mean_absolute_error, r2_score

from arboleda import (
    BoostingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRanker,
    HistGradientBoostingRegressor,
)

RANDOM = np.random.default_rng(1)
X = RANDOM.uniform(-2, 2, size=(400, 3))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * RANDOM.normal(size=400)
CLASSES = np.digitize(Y, [-0.5, 0.8])
SCORE = 0.5 * X[:, 2] + 1.0


def fit(**parameters: Any) -> Any:
    init = parameters.pop("init_score", SCORE)
    return HistGradientBoostingRegressor(max_iter=20, **parameters).fit(X, Y, init_score=init)


@pytest.mark.parametrize(
    "parameters", [{}, {"growth": "symmetric"}, {"subsample": 0.7}, {"linear_leaves": True}]
)
def test_trees_are_fitted_to_what_is_left(parameters: dict[str, Any]) -> None:
    parameters |= {"random_state": 0}
    with_score = fit(**parameters)
    left = HistGradientBoostingRegressor(max_iter=20, **parameters)
    left.fit(X, Y - SCORE, init_score=np.zeros(400))
    np.testing.assert_allclose(with_score.predict(X), left.predict(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(
        with_score.predict(X, init_score=SCORE), with_score.predict(X) + SCORE
    )
    assert with_score.ensemble_.start.tolist() == [0.0]


def test_rounds_continue_from_the_scores_of_a_model() -> None:
    for maker, y in (
        (HistGradientBoostingRegressor, Y),
        (HistGradientBoostingClassifier, CLASSES == 2),
        (HistGradientBoostingClassifier, CLASSES),
    ):
        first = maker(max_iter=10).fit(X, y)
        whole = maker(max_iter=20).fit(X, y)
        more = maker(max_iter=10).fit(X, y, init_score=first._raw_scores(X))
        np.testing.assert_allclose(
            first._raw_scores(X) + more._raw_scores(X), whole._raw_scores(X), rtol=1e-9, atol=1e-12
        )
        if maker is HistGradientBoostingClassifier:
            init = first.decision_function(X)
            probability = whole.predict_proba(X)
            np.testing.assert_allclose(more.predict_proba(X, init), probability, rtol=1e-8)
            np.testing.assert_allclose(
                more.predict_log_proba(X, init_score=init), np.log(probability), rtol=1e-7
            )
            np.testing.assert_array_equal(more.predict(X, init_score=init), whole.predict(X))
            np.testing.assert_allclose(
                more.decision_function(X, init), whole.decision_function(X), rtol=1e-8, atol=1e-11
            )


def test_exposures_scale_counts() -> None:
    exposure = RANDOM.uniform(0.1, 3.0, size=400)
    counts = RANDOM.poisson(exposure * np.exp(Y))
    model = HistGradientBoostingRegressor(loss="poisson")
    model.fit(X, counts, init_score=np.log(exposure))
    np.testing.assert_allclose(
        model.predict(X, init_score=np.log(exposure)), exposure * model.predict(X), rtol=1e-12
    )
    assert model.predict(X, np.log(exposure)).sum() == pytest.approx(counts.sum(), rel=0.02)
    assert np.corrcoef(np.log(model.predict(X)), Y)[0, 1] > 0.9


def test_held_out_rows_keep_their_scores() -> None:
    given = HistGradientBoostingRegressor(max_iter=20, early_stopping=True)
    given.fit(
        X[:300], Y[:300], X_val=X[300:], y_val=Y[300:],
        init_score=SCORE[:300], init_score_val=SCORE[300:],
    )  # fmt: skip
    loss = 0.5 * np.mean((Y - SCORE)[300:] ** 2)
    assert given.history_["validation_loss"][0] == pytest.approx(loss, rel=1e-12)
    final = 0.5 * np.mean((Y[300:] - given.predict(X[300:], SCORE[300:])) ** 2)
    assert given.history_["validation_loss"][given.n_iter_] == pytest.approx(final, rel=1e-9)
    assert final < 0.2 * loss
    scored = HistGradientBoostingRegressor(
        max_iter=20, early_stopping=True, scoring="r2", random_state=0
    ).fit(X, Y, init_score=SCORE)
    assert scored.train_score_[0] == pytest.approx(r2_score(Y, SCORE), abs=0.1)
    assert scored.train_score_[-1] > 0.8
    for parameters in ({"validation_folds": 4, "early_stopping": True}, {"max_iter": "auto"}):
        model = HistGradientBoostingRegressor(random_state=0, **parameters)
        model.fit(X, Y, init_score=SCORE)
        assert r2_score(Y, model.predict(X, SCORE)) > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init_score": SCORE[:-1]}, r"init_score has the shape \(399,\), but must have \(400,\)"),
        ({"init_score": np.ones((400, 2))}, r"must have \(400,\): one raw score for each row$"),
        ({"init_score": np.where(X[:, 0] > 0, np.nan, 0.0)}, "init_score .*finite"),
        ({"init_score_val": SCORE}, "must be given together"),
        ({"init_score": SCORE, "init_score_val": SCORE}, "init_score alone if there are none"),
        ({"init_score": SCORE, "X_val": X, "y_val": Y}, "must be given together"),
        ({"base_margin": SCORE}, "here it is init_score"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        HistGradientBoostingRegressor(max_iter=2).fit(X, Y, **options)


def test_rankings_continue_from_the_scores_of_a_model() -> None:
    qid = np.repeat(np.arange(40), 10)
    first, whole, more = (HistGradientBoostingRanker(max_iter=n) for n in (10, 20, 10))
    first.fit(X, CLASSES, qid=qid)
    whole.fit(X, CLASSES, qid=qid)
    score = first.predict(X)
    more.fit(X, CLASSES, qid=qid, init_score=score)
    np.testing.assert_allclose(
        more.predict(X, init_score=score), whole.predict(X), rtol=1e-9, atol=1e-12
    )


def test_errors_of_classes_and_automatic_models() -> None:
    model = HistGradientBoostingClassifier(max_iter=2)
    with pytest.raises(ValueError, match=r"must have \(400, 3\): one raw score for each row and"):
        model.fit(X, CLASSES, init_score=SCORE)
    model.fit(X, CLASSES, init_score=np.zeros((400, 3)))
    with pytest.raises(ValueError, match=r"must have \(400, 3\)"):
        model.predict(X, init_score=SCORE)
    with pytest.raises(ValueError, match="does not support init_score: use HistGradient"):
        BoostingRegressor().fit(X, Y, init_score=SCORE)


def test_every_round_is_scored_on_every_set() -> None:
    sets = {"train": (X[:300], Y[:300]), "valid": (X[300:], Y[300:], np.arange(100.0))}
    absolute = make_scorer(mean_absolute_error, greater_is_better=False)
    for model in (
        HistGradientBoostingRegressor(max_iter=7),
        GradientBoostingRegressor(n_estimators=7),
    ):
        model.fit(*sets["train"])
        scores = model.evals_result(sets, [None, "neg_mean_absolute_error", absolute])
        assert list(scores) == ["train", "valid"]
        for name, part in sets.items():
            named = scores[name]
            assert list(named)[:2] == ["score", "neg_mean_absolute_error"]
            np.testing.assert_allclose(named["score"], list(model.staged_score(*part)))
            values = list(named.values())
            assert values[0].shape == (7,)
            np.testing.assert_array_equal(values[1], values[2])
    y = CLASSES == 1
    classifier = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    last = classifier.evals_result([(X, y)], "neg_log_loss")["valid_0"]["neg_log_loss"][-1]
    assert last == pytest.approx(-log_loss(y, classifier.predict_proba(X)))
    with pytest.raises(ValueError, match="'valid_0' is a ndarray"):
        classifier.evals_result([X])
