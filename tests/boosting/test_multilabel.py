"""Several labels per row: each is that of a binary fit, and trees may be shared by all."""

import pickle
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier as TheirBoosting
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.metrics import log_loss
from sklearn.multioutput import MultiOutputClassifier

import arboleda
from arboleda import (
    BoostingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    explain,
)
from arboleda._base.folds import keep_every_class

X, Y = make_multilabel_classification(600, 10, n_classes=4, random_state=0)
TRAIN, TEST = slice(0, 400), slice(400, 600)
STRATEGIES = ["one_output_per_tree", "multi_output_tree"]


def classifier(**options: Any) -> HistGradientBoostingClassifier:
    """A small classifier."""
    return HistGradientBoostingClassifier(**{"max_iter": 12, "random_state": 0} | options)


def positive(probabilities: list[Any]) -> Any:
    """Return the probability of the second class of each label."""
    return np.column_stack([p[:, 1] for p in probabilities])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "exponential"},
        {"growth": "symmetric", "max_depth": 3},
        {"linear_leaves": True},
        {"monotonic_cst": [1, -1] + [0] * 8},
        {"l1_regularization": 0.5, "l2_regularization": 2.0, "max_delta_step": 1.0},
    ],
)
def test_separate_trees_are_those_of_one_binary_fit_per_label(options: dict[str, Any]) -> None:
    weight = 1.0 + np.arange(400) % 3
    model = classifier(**options).fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    predicted, decision = model.predict(X), model.decision_function(X)
    probabilities = model.predict_proba(X)
    assert predicted.shape == decision.shape == Y.shape
    for k in range(4):
        binary = classifier(**options).fit(X[TRAIN], Y[TRAIN, k], sample_weight=weight)
        assert_array_equal(decision[:, k], binary.decision_function(X))
        assert_array_equal(probabilities[k], binary.predict_proba(X))
        assert_array_equal(predicted[:, k], binary.predict(X))


def test_missing_values_and_categories_are_those_of_binary_fits() -> None:
    frame = pd.DataFrame(X).add_prefix("x")
    frame.loc[::7, "x2"] = np.nan
    frame["kind"] = pd.Categorical(np.array(list("abcde"))[np.arange(600) % 3 + Y[:, 0]])
    model = classifier().fit(frame, Y)
    for k in range(4):
        single = classifier().fit(frame, Y[:, k])
        assert_array_equal(model.decision_function(frame)[:, k], single.decision_function(frame))


def test_a_multi_output_classifier_predicts_the_same() -> None:
    model = classifier().fit(X[TRAIN], Y[TRAIN])
    separate = MultiOutputClassifier(classifier()).fit(X[TRAIN], Y[TRAIN])
    assert_array_equal(model.predict(X[TEST]), separate.predict(X[TEST]))
    for ours, theirs in zip(
        model.predict_proba(X[TEST]), separate.predict_proba(X[TEST]), strict=True
    ):
        assert_array_equal(ours, theirs)
    assert model.score(X[TEST], Y[TEST]) == separate.score(X[TEST], Y[TEST])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_labels_are_learned_as_well_as_by_scikit_learn(strategy: str) -> None:
    theirs = MultiOutputClassifier(TheirBoosting(max_iter=60)).fit(X[TRAIN], Y[TRAIN])
    ours = classifier(max_iter=60, multi_strategy=strategy).fit(X[TRAIN], Y[TRAIN])
    loss, reference = (
        np.mean([log_loss(Y[TEST, k], p) for k, p in enumerate(model.predict_proba(X[TEST]))])
        for model in (ours, theirs)
    )
    assert loss < 1.1 * reference


def test_outputs_have_the_shapes_of_a_forest() -> None:
    forest = TheirForest(10, max_depth=1, random_state=0).fit(X, Y)
    model = classifier().fit(X, Y)
    assert model.n_outputs_ == forest.n_outputs_ == 4
    assert model.n_classes_ == forest.n_classes_ == [2, 2, 2, 2]
    for ours, theirs in zip(model.classes_, forest.classes_, strict=True):
        assert_array_equal(ours, theirs)
    for method in ("predict_proba", "predict_log_proba"):
        parts = getattr(model, method)(X)
        expected = getattr(forest, method)(X)
        assert [part.shape for part in parts] == [part.shape for part in expected]
    hits = (model.predict(X) == Y).all(axis=1)
    assert model.score(X, Y) == hits.mean()
    weight = np.arange(600.0)
    assert_allclose(model.score(X, Y, weight), np.average(hits, weights=weight))


# Shared trees


def find_best_stump(columns: Any, gradient: Any, hessian: Any, l2: float) -> Any:
    """Return the mask of the left child of the best split, by sums over all labels in turn."""

    def score(rows: Any) -> float:
        return sum(
            gradient[rows, k].sum() ** 2 / (hessian[rows, k].sum() + l2)
            for k in range(gradient.shape[1])
        )

    best, chosen = -np.inf, None
    for column in columns.T:
        for value in np.unique(column)[:-1]:
            left = column <= value
            if min(left.sum(), (~left).sum()) < 20:
                continue
            gain = score(left) + score(~left)
            if gain > best:
                best, chosen = gain, left
    return chosen


@pytest.mark.parametrize("l2", [0.0, 3.0])
def test_the_first_shared_split_has_the_largest_gain_summed_over_labels(l2: float) -> None:
    model = classifier(
        max_iter=1, max_leaf_nodes=2, l2_regularization=l2, multi_strategy="multi_output_tree"
    ).fit(X, Y)
    shares = Y.mean(axis=0)
    start = np.log(shares / (1.0 - shares))
    gradient, hessian = shares - Y, np.tile(shares * (1.0 - shares), (len(Y), 1))
    left = find_best_stump(X, gradient, hessian, l2)
    raw = model.decision_function(X)
    for rows in (left, ~left):
        step = -gradient[rows].sum(axis=0) / (hessian[rows].sum(axis=0) + l2)
        assert_allclose(raw[rows], np.tile(start + 0.1 * step, (rows.sum(), 1)), rtol=1e-9)


def test_shared_trees_have_the_same_splits_for_all_labels() -> None:
    leaves = classifier(multi_strategy="multi_output_tree").fit(X, Y).apply(X)
    assert (leaves == leaves[:, :, :1]).all()
    separate = classifier().fit(X, Y).apply(X)
    assert (separate != separate[:, :, :1]).any()


@pytest.mark.parametrize("sketch", ["top", "sampling", "projection"])
def test_sketches_learn_labels_and_do_not_depend_on_threads(sketch: str) -> None:
    options = {"multi_strategy": "multi_output_tree", "output_sketch": sketch, "sketch_dim": 2}
    one, two = (
        classifier(max_iter=60, subsample=0.8, n_jobs=n, **options).fit(X, Y) for n in (1, 2)
    )
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.score(X, Y) > 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"growth": "symmetric"}, "does not support growth='symmetric'"),
        ({"linear_leaves": True}, "does not support linear_leaves=True"),
        ({"monotonic_cst": [1] + [0] * 9}, "does not support monotonic_cst"),
    ],
)
def test_what_shared_trees_do_not_support_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        classifier(multi_strategy="multi_output_tree", **options).fit(X, Y)


# Every other option


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_early_stopping_uses_the_sum_of_the_log_losses(strategy: str) -> None:
    weight = np.arange(600) % 3 * 1.0
    model = classifier(max_iter=300, learning_rate=0.3, multi_strategy=strategy)
    model.fit(X[TRAIN], Y[TRAIN], X_val=X[TEST], y_val=Y[TEST], sample_weight_val=weight[TEST])
    assert 0 < model.n_iter_ < 300
    by_hand = sum(
        log_loss(Y[TEST, k], p, sample_weight=weight[TEST])
        for k, p in enumerate(model.predict_proba(X[TEST]))
    )
    assert_allclose(-model.validation_score_[-1], by_hand, rtol=1e-9)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "f1_macro"])
def test_early_stopping_by_a_score(scoring: str | None) -> None:
    model = classifier(early_stopping=True, scoring=scoring).fit(X, Y)
    assert model.validation_score_.size == model.train_score_.size == model.n_iter_ + 1


@pytest.mark.parametrize("options", [{"early_stopping": True}, {"validation_folds": 3}])
def test_rare_labels_stay_in_the_training_rows(options: dict[str, Any]) -> None:
    rare = np.zeros((600, 3), dtype=int)
    rare[:, 0] = Y[:, 0]
    rare[[5, 71], 1] = rare[9, 2] = 1
    model = classifier(**{"early_stopping": True} | options).fit(X, rare)
    assert (model.ensemble_.start > -10.0).all()


def test_every_class_of_every_target_stays_in_the_training_rows() -> None:
    target = np.array([[0, 0], [0, 0], [0, 0], [1, 0], [0, 1], [1, 1]])
    train, validation = keep_every_class(np.arange(3), np.arange(3, 6), target)
    assert_array_equal(train, [0, 1, 2, 3, 4])
    assert_array_equal(validation, [5])


@pytest.mark.parametrize("options", [{"max_iter": "auto"}, {"validation_folds": 3}])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rounds_are_chosen_for_all_labels(strategy: str, options: dict[str, Any]) -> None:
    model = classifier(multi_strategy=strategy, early_stopping=True, **options)
    assert model.fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST]) > 0.4


def test_automatic_boosting_keeps_held_out_probabilities_of_each_label() -> None:
    model = BoostingClassifier("quick", learning_rate=0.3, random_state=0).fit(X, Y)
    held_out = model.cv_predictions_
    assert held_out.shape == Y.shape
    losses = -np.log(np.where(Y == 1, held_out, 1.0 - held_out)).sum(axis=1)
    assert_allclose(model.report_.cv_loss, losses.mean(), rtol=1e-9)
    assert model.score(X, Y) > 0.6


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_fit_that_goes_on_is_that_of_one(strategy: str) -> None:
    whole = classifier(multi_strategy=strategy).fit(X, Y)
    parts = classifier(multi_strategy=strategy, max_iter=5, warm_start=True).fit(X, Y)
    parts.set_params(max_iter=12).fit(X, Y)
    assert_array_equal(whole.decision_function(X), parts.decision_function(X))


def test_stages_end_with_the_model() -> None:
    model = classifier().fit(X, Y)
    assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert_array_equal(list(model.staged_decision_function(X))[-1], model.decision_function(X))
    assert_array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
    assert list(model.staged_score(X, Y))[-1] == model.score(X, Y)


def test_many_categories_get_a_statistic_for_each_label() -> None:
    shops = np.array([f"shop {i}" for i in range(300)])[np.arange(600) * 7 % 300]
    frame = pd.DataFrame({"x": X[:, 0], "shop": shops})
    model = classifier(category_encoding="ordered").fit(frame, Y)
    assert model.statistics_.values[0].shape == (301, 4)
    assert model.predict(frame).shape == Y.shape


def test_a_custom_loss_gets_all_labels() -> None:
    def logistic(y: Any, raw: Any) -> tuple[Any, Any]:
        p = 1.0 / (1.0 + np.exp(-raw))
        return p - y, p * (1.0 - p)

    custom = classifier(max_iter=60, loss=logistic).fit(X, Y)
    assert custom.score(X, Y) > 0.8


# What goes in


@pytest.mark.parametrize(
    "convert",
    [
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: 2 * y - 1,
        lambda y: pd.DataFrame(y, columns=list("abcd")),
        lambda y: pd.DataFrame(y.astype(bool)).convert_dtypes(),
        lambda y: y.tolist(),
        lambda y: y.astype(object),
    ],
)
def test_labels_come_in_many_forms(convert: Any) -> None:
    labels = convert(Y)
    model = classifier().fit(X, labels)
    expected = classifier().fit(X, Y)
    assert_array_equal(positive(model.predict_proba(X)), positive(expected.predict_proba(X)))
    given = np.asarray(labels).astype(model.predict(X).dtype)
    assert_array_equal(np.unique(model.predict(X)), np.unique(given))
    assert model.score(X, given) == expected.score(X, Y)


def test_one_column_is_a_binary_target() -> None:
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        model = classifier().fit(X, Y[:, :1])
    assert_array_equal(model.classes_, [0, 1])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("dtype", [int, bool])
def test_a_label_that_never_varies_is_certain(strategy: str, dtype: Any) -> None:
    labels = np.column_stack([Y[:, 0], 0 * Y[:, 0], 0 * Y[:, 0] + 1, Y[:, 1]]).astype(dtype)
    model = classifier(multi_strategy=strategy, early_stopping=True).fit(X, labels)
    forest = TheirForest(5).fit(X, labels)
    assert model.n_classes_ == forest.n_classes_ == [2, 1, 1, 2]
    assert_array_equal(model.predict(X)[:, 1:3], forest.predict(X)[:, 1:3])
    for k in (1, 2):
        assert_array_equal(model.predict_proba(X)[k], forest.predict_proba(X)[k])
    assert (model.decision_function(X)[:, 1] < 0).all()
    assert (model.decision_function(X)[:, 2] > 0).all()
    alone = classifier(multi_strategy=strategy).fit(X, labels[:, 1:3])
    assert_array_equal(alone.predict(X), labels[:, 1:3])


@pytest.mark.parametrize("value", [0, 1])
def test_labels_with_one_value_in_all_are_certain(value: int) -> None:
    model = classifier().fit(X, np.full((600, 2), value))
    assert_array_equal(model.predict(X), np.full((600, 2), value))
    assert_array_equal(model.predict_proba(X), np.ones((2, 600, 1)))
    assert ((model.decision_function(X) > 0) == bool(value)).all()


def test_labels_of_weight_0_do_not_count() -> None:
    weight = np.ones(600)
    weight[300:] = 0.0
    model = classifier().fit(X, Y, sample_weight=weight)
    expected = classifier().fit(X[:300], Y[:300])
    assert_array_equal(model.decision_function(X), expected.decision_function(X))


ROW_3 = np.arange(600)[:, np.newaxis] == 3


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (np.where(ROW_3, np.nan, Y), ValueError, "contains NaN: row 3"),
        (np.where(ROW_3, None, Y), ValueError, "output 0 of y has a missing value in row 3"),
        (Y + ROW_3 * np.array([0, 0, 2, 0]), ValueError, "output 2 of y has .* classes"),
        (np.where(Y == 1, "yes", "no"), ValueError, "have the values 'no', 'yes'.* as 0 and 1"),
        (Y + np.array([0, 0, 0, 5]), ValueError, "have the values 0, 1, 5, 6"),
        (Y + 0.5, ValueError, "Unknown label type: continuous-multioutput"),
        (Y[:599], ValueError, "inconsistent numbers of samples"),
        (csr_matrix(Y), TypeError, "sparse multilabel-indicator for y is not supported"),
    ],
)
def test_other_targets_are_refused(y: Any, error: type[Exception], message: str) -> None:
    model = classifier()
    with pytest.raises(error, match=message):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_further_rows_must_have_the_same_labels() -> None:
    with pytest.raises(ValueError, match="y has 3 labels, and the training data has 4"):
        classifier().fit(X, Y, X_val=X, y_val=Y[:, :3])
    with pytest.raises(ValueError, match="y has 1 label, and the training data has 4"):
        classifier().fit(X, Y, X_val=X, y_val=Y[:, 0])
    with pytest.raises(ValueError, match="output 1 of y has the class 2 in row 3, which was not"):
        classifier().fit(X, Y, X_val=X, y_val=np.where(ROW_3, [0, 2, 0, 0], Y))
    model = classifier(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="y has 2 labels"):
        model.fit(X, Y[:, :2])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 2}])
def test_class_weights_are_refused(class_weight: Any) -> None:
    with pytest.raises(ValueError, match="class_weight=.* is not supported for several labels"):
        classifier(class_weight=class_weight).fit(X, Y)


def test_exact_boosting_takes_one_label() -> None:
    with pytest.raises(ValueError, match="should be a 1d array"):
        GradientBoostingClassifier().fit(X, Y)


# What goes out


@pytest.mark.parametrize(("strategy", "constant"), list(product(STRATEGIES, [False, True])))
def test_files_pickles_and_single_rows(tmp_path: Any, strategy: str, constant: bool) -> None:
    labels = np.column_stack([Y, 0 * Y[:, 0]]) if constant else Y
    model = classifier(multi_strategy=strategy, early_stopping=True).fit(X, labels)
    model.save(tmp_path / "model.arboleda")
    loaded = arboleda.load(tmp_path / "model.arboleda")
    for copied in (loaded, pickle.loads(pickle.dumps(model)), clone(model).fit(X, labels)):
        assert_array_equal(copied.predict(X), model.predict(X))
        assert copied.n_classes_ == model.n_classes_
        for one, other in zip(copied.predict_proba(X), model.predict_proba(X), strict=True):
            assert_array_equal(one, other)
    assert_array_equal(loaded.validation_score_, model.validation_score_)
    predictor = model.predictor()
    assert_array_equal(predictor(X[3]), model.predict(X[3:4])[0])
    for one, whole in zip(predictor.predict_proba(X[3]), model.predict_proba(X), strict=True):
        assert_array_equal(one, whole[3])


@pytest.mark.parametrize(
    "classes", [[[0, 1]] * 3, [[0, 1], [0, 1], [0, 1], [0, 2]], [[0, 1]] * 3 + [[]], [0, 1]]
)
def test_files_whose_classes_do_not_match_the_scores_are_refused(classes: list[Any]) -> None:
    model = classifier(max_iter=2).fit(X, Y)
    assert model._defect() is None
    several = isinstance(classes[0], list)
    model.classes_ = [np.array(known) for known in classes] if several else np.array(classes)
    assert "number of classes" in str(model._defect())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_shapley_values_sum_to_the_scores_of_each_label(strategy: str) -> None:
    model = classifier(multi_strategy=strategy).fit(X, Y)
    values = explain.shap_values(model, X[:20])
    assert values.output_names == ("target 0: 1", "target 1: 1", "target 2: 1", "target 3: 1")
    assert_allclose(values.scores, model.decision_function(X[:20]), atol=1e-9)


def test_shape_functions_sum_to_the_scores_of_each_label() -> None:
    model = classifier(max_leaf_nodes=2).fit(X, Y)
    shapes = model.shape_functions()
    total = shapes.intercept + sum(shapes[j].at(X[:, j]) for j in range(10))
    assert_allclose(total, model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("export", [arboleda.to_onnx, arboleda.to_c])
def test_exports_are_refused(export: Any) -> None:
    model = classifier().fit(X, Y)
    with pytest.raises(ValueError, match="has 4 classification targets: fit one model for each"):
        export(model)
