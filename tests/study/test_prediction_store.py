"""Predictions of held-out rows: stored, dropped, recomputed, read as one matrix."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from arboleda.scoring.scores import Predictions, class_scores
from arboleda.study import Study
from arboleda.study.config.settings import Settings
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    PredictionRequest,
    load_member_outputs,
    load_predictions,
    predictions_path,
    remove_predictions,
    save_predictions,
)
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table

pytestmark = pytest.mark.usefixtures("undrawn")

MODELS = "naive_bayes,ridge"


def test_a_study_stores_only_predictions_of_selected_candidates(tmp_path: Path) -> None:
    Study("iris", target="target", output_dir=tmp_path, models=MODELS).run()
    names = [path.name for path in (tmp_path / PREDICTIONS_DIR).iterdir()]
    for model in ("naive_bayes", "ridge"):
        assert len([name for name in names if name.startswith(model)]) == 6
    assert {name.split("-")[2] for name in names} == {*(f"{k}.npy" for k in range(5)), "test.npy"}


def test_a_lost_file_is_recreated_with_the_same_bytes(tmp_path: Path) -> None:
    study = Study("iris", target="target", output_dir=tmp_path, models="naive_bayes")
    study.run()
    before = {path.name: path.read_bytes() for path in (tmp_path / PREDICTIONS_DIR).iterdir()}
    lost, torn = sorted(before)[1], sorted(before)[2]
    (tmp_path / PREDICTIONS_DIR / lost).unlink()
    (tmp_path / PREDICTIONS_DIR / torn).write_bytes(before[torn][:-8])
    study.run()
    assert {
        path.name: path.read_bytes() for path in (tmp_path / PREDICTIONS_DIR).iterdir()
    } == before


def test_predictions_of_a_fold_match_a_fit_on_the_other_rows(tmp_path: Path) -> None:
    result = Study("iris", target="target", output_dir=tmp_path, models="naive_bayes").run()
    model = result.facts["models"][0]
    params = model["candidates"][model["best"]]["params"]
    path = predictions_path(tmp_path / PREDICTIONS_DIR, "naive_bayes", params, "2")
    predictions = load_predictions(path, 24, 3)
    assert predictions is not None
    assert np.array_equal(predictions.probabilities(3).argmax(axis=1), predictions.predicted)
    split = make_plan(read_table("iris"), "target", Settings()).split
    x, y = load_iris(return_X_y=True)
    fit, score = split.folds[2]
    scale = StandardScaler().fit(x[fit])
    twin = GaussianNB(**params).fit(scale.transform(x[fit]), y[fit])
    np.testing.assert_allclose(predictions.score, twin.predict_proba(scale.transform(x[score])))


def test_outputs_average_repeated_rows_and_omit_missing_ones(
    tmp_path: Path,
) -> None:
    parts = [np.array([4, 1]), np.array([1, 2])]
    predictions = [np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([[0.0, 1.0], [1.0, 0.0]])]
    paths = [tmp_path / f"{k}.npy" for k in range(2)]
    for path, values in zip(paths, predictions, strict=True):
        assert save_predictions(path, Predictions(values.argmax(axis=1), values)) is None
    requests = [PredictionRequest(rows, (path,)) for rows, path in zip(parts, paths, strict=True)]
    found = load_member_outputs(["one"], requests, 6, ("no", "yes"))
    assert found is not None
    assert found.rows.tolist() == [1, 2, 4]
    np.testing.assert_allclose(found.outputs[0], [[0.3, 0.7], [1.0, 0.0], [0.2, 0.8]])
    assert found.n_left_out == 3


def test_outputs_are_missing_without_a_file_of_their_type(tmp_path: Path) -> None:
    path = tmp_path / "values.npy"
    requests = [PredictionRequest(np.array([0, 1]), (path,))]
    assert load_member_outputs(["one"], requests, 2) is None
    save_predictions(path, Predictions(np.zeros(2, dtype=np.int64), np.full((2, 2), 0.5)))
    assert load_member_outputs(["one"], requests, 2, ("no", "yes")) is not None
    assert load_member_outputs(["one"], requests, 2) is None
    assert load_member_outputs(["one"], requests, 2, ("a", "b", "c")) is None
    np.save(path, np.array([{}, {}]), allow_pickle=True)
    assert load_predictions(path, 2, 0) is None


def test_only_unlisted_files_are_dropped(tmp_path: Path) -> None:
    for name in ("a.npy", "b.npy", ".c.npy.tmp"):
        (tmp_path / name).write_bytes(b"")
    remove_predictions(tmp_path, [tmp_path / "b.npy"])
    assert [path.name for path in tmp_path.iterdir()] == ["b.npy"]


def test_failed_writes_are_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    predictions = Predictions(np.zeros(2), None)
    assert "FileExistsError" in str(save_predictions(tmp_path / "file" / "a.npy", predictions))


@pytest.mark.parametrize("model", [GaussianNB(), RidgeClassifier()])
@pytest.mark.parametrize("classes", [(0, 1, 2), (0, 2), (1, 2)])
def test_every_classifier_has_probabilities_of_all_classes(model, classes) -> None:
    x, y = load_iris(return_X_y=True)
    some = np.isin(y, classes)
    model.fit(x[some], y[some])
    predicted = model.predict(x)
    p = Predictions(predicted, class_scores(model, x, 4)).probabilities(4)
    assert p.shape == (150, 4)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(p.argmax(axis=1), predicted)
    assert np.all(p[:, [k for k in range(4) if k not in classes]] == 0.0)


def test_a_decision_value_becomes_a_probability_by_the_logistic_function() -> None:
    x, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([0, 0, 1, 1])
    model = RidgeClassifier().fit(x, y)
    p = Predictions(model.predict(x), class_scores(model, x, 2)).probabilities(2)
    np.testing.assert_allclose(p[:, 1], 1.0 / (1.0 + np.exp(-model.decision_function(x))))


def test_a_classifier_that_only_predicts_gives_votes(tmp_path: Path) -> None:
    save_predictions(tmp_path / "votes.npy", Predictions(np.array([1, 1]), None))
    predictions = load_predictions(tmp_path / "votes.npy", 2, 3)
    assert predictions is not None
    assert predictions.probabilities(3).tolist() == [[0.0, 1.0, 0.0]] * 2
