"""A whole study: its facts are those that scikit-learn gives by hand, and nothing leaks."""

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from arboleda import (
    AdaBoostRegressor,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    catalogue,
)
from arboleda.catalogue import Model
from arboleda.study import Study, StudyError, StudyResult, plan, problem
from arboleda.study.execution import pool
from arboleda.study.execution.job import run_job
from arboleda.study.output_folder import default_folder
from arboleda.study.results import best_model

SCHEMA = json.loads(files("arboleda.facts").joinpath("study.schema.json").read_text())
Timeless = Callable[[Any], Any]


def validate(facts: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(facts)


def model_of(result: StudyResult, key: str) -> dict[str, Any]:
    return next(m for m in result.facts["models"] if m["key"] == key)


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Cut the catalogue down to the models given by key or as entries."""

    def cut(*wanted: str | Model) -> None:
        def models(task: str, keys: Sequence[str] = ()) -> list[Model]:
            known = {m.key: m for m in catalogue.select_models(task, (catalogue.ALL,))}
            return [known[w] if isinstance(w, str) else w for w in wanted]

        for module in (plan, problem):
            monkeypatch.setattr(module, "select_models", models)

    return cut


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The jobs that are done, as (model and parameters, what the ledger calls the rest)."""
    done: list[tuple[str, str]] = []

    def record(job: Any, shared: Any) -> dict[str, Any]:
        done.append((f"{job.model} {job.params}", job.entry))
        return run_job(job, shared)

    monkeypatch.setattr(pool, "run_job", record)
    return done


def by_hand(frame: pd.DataFrame) -> Any:
    """Scikit-learn's own pipeline for the mixed table."""
    numbers = [c for c in frame if c != "city"]
    scale = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    levels = OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist")
    return make_column_transformer((scale, numbers), (levels, ["city"]))


def by_hand_features(mixed: pd.DataFrame) -> pd.DataFrame:
    since = mixed["since"].dt
    frame = mixed[["age", "wealth", "member"]].astype(float)
    frame["days"] = (mixed["since"] - pd.Timestamp(0)).dt.days.astype(float)
    for part in ("year", "month", "day", "day_of_week"):
        frame[part] = getattr(since, part).astype(float)
    angle = 2 * np.pi * (since.day_of_year - 1) / np.where(since.is_leap_year, 366, 365)
    frame["sine"], frame["cosine"] = np.sin(angle), np.cos(angle)
    angle = 2 * np.pi * since.day_of_week / 7
    frame["week_sine"], frame["week_cosine"] = np.sin(angle), np.cos(angle)
    return frame.assign(city=mixed["city"].fillna("(none)"))


def test_facts_follow_the_schema(mixed_result: StudyResult, diabetes_result: StudyResult) -> None:
    for result in (mixed_result, diabetes_result):
        validate(result.facts)
        assert json.loads((result.folder / "results.json").read_text()) == result.facts
        assert result.report.read_text().lower().startswith("<!doctype html>")
        assert all(m["status"] == "ok" for m in result.facts["models"])


def test_the_schema_refuses_unknown_keys(mixed_result: StudyResult) -> None:
    for spoil in ({"extra": 1}, {"models": None}, {"schema_version": 5}):
        with pytest.raises(jsonschema.ValidationError):
            validate({**mixed_result.facts, **spoil})


def test_logistic_regression_matches_scikit_learn(
    mixed: pd.DataFrame, mixed_result: StudyResult
) -> None:
    x, y = by_hand_features(mixed), (mixed["rich"] == "yes").astype(int).to_numpy()
    rows = np.arange(len(y))
    train, test = train_test_split(rows, test_size=0.2, stratify=y, random_state=0)
    train, test = np.sort(train), np.sort(test)
    facts = model_of(mixed_result, "logistic")
    best = facts["candidates"][facts["best"]]["params"]["C"]
    model = make_pipeline(by_hand(x), LogisticRegression(C=best, max_iter=1000))
    scores = []
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)
    for fit, score in splitter.split(train, y[train]):
        model.fit(x.iloc[train[fit]], y[train[fit]])
        scores.append(model.score(x.iloc[train[score]], y[train[score]]))
    assert facts["cv"]["fold_scores"] == pytest.approx(scores)
    assert facts["cv"]["mean"] == pytest.approx(np.mean(scores))
    assert facts["cv"]["sd"] == pytest.approx(np.std(scores, ddof=1))
    model.fit(x.iloc[train], y[train])
    predicted, p = model.predict(x.iloc[test]), model.predict_proba(x.iloc[test])[:, 1]
    found = facts["test"]
    assert found["confusion"]["counts"] == sk.confusion_matrix(y[test], predicted).tolist()
    assert found["confusion"]["labels"] == ["no", "yes"]
    assert found["metrics"]["roc_auc"] == pytest.approx(sk.roc_auc_score(y[test], p))
    assert found["metrics"]["log_loss"] == pytest.approx(sk.log_loss(y[test], p), rel=1e-3)
    assert found["metrics"]["mcc"] == pytest.approx(sk.matthews_corrcoef(y[test], predicted))
    assert found["roc"][0]["auc"] == pytest.approx(found["metrics"]["roc_auc"])
    assert found["pr"][0]["average_precision"] == pytest.approx(
        sk.average_precision_score(y[test], p)
    )
    assert found["per_class"][1]["recall"] == pytest.approx(sk.recall_score(y[test], predicted))
    assert mixed_result.facts["split"] == {
        "n_train": len(train),
        "n_test": len(test),
        "classes": [
            {"label": "no", "train": int(sum(y[train] == 0)), "test": int(sum(y[test] == 0))},
            {"label": "yes", "train": int(sum(y[train] == 1)), "test": int(sum(y[test] == 1))},
        ],
    }


def test_ridge_regression_matches_scikit_learn(diabetes_result: StudyResult) -> None:
    x, y = load_diabetes(return_X_y=True)
    train, test = (
        np.sort(r) for r in train_test_split(np.arange(len(y)), test_size=0.2, random_state=0)
    )
    facts = model_of(diabetes_result, "ridge")
    scores = {}
    for alpha in (0.1, 1.0, 10.0, 100.0):
        model = make_pipeline(StandardScaler(), Ridge(alpha=alpha))
        scores[alpha] = []
        for fit, score in KFold(5, shuffle=True, random_state=0).split(train):
            model.fit(x[train[fit]], y[train[fit]])
            predicted = model.predict(x[train[score]])
            scores[alpha].append(sk.root_mean_squared_error(y[train[score]], predicted))
    assert [c["fold_scores"] for c in facts["candidates"]] == [
        pytest.approx(s) for s in scores.values()
    ]
    best = min(scores, key=lambda a: np.mean(scores[a]))
    assert facts["candidates"][facts["best"]]["params"] == {"alpha": best}
    predicted = (
        make_pipeline(StandardScaler(), Ridge(alpha=best)).fit(x[train], y[train]).predict(x[test])
    )
    found = facts["test"]["metrics"]
    assert found["rmse"] == pytest.approx(sk.root_mean_squared_error(y[test], predicted))
    assert found["nmse"] == pytest.approx(
        sk.mean_squared_error(y[test], predicted) / np.var(y[test])
    )
    residuals = facts["test"]["residuals"]
    assert residuals["residual"] == pytest.approx(list(y[test] - predicted))
    assert sum(residuals["histogram"]["counts"]) == len(test)


@pytest.mark.parametrize(
    ("key", "forest", "max_features"),
    [
        ("bagging", BaggingRegressor, [1.0, 0.5]),
        ("random_forest", RandomForestRegressor, [1 / 3, 1 / 3, 1.0, 1.0]),
        ("extra_trees", ExtraTreesRegressor, [1 / 3, 1 / 3, 1.0, 1.0]),
    ],
)
def test_forests_match_direct_fits(
    diabetes_result: StudyResult, key: str, forest: Any, max_features: list[float]
) -> None:
    x, y = load_diabetes(return_X_y=True)
    train, test = (
        np.sort(r) for r in train_test_split(np.arange(len(y)), test_size=0.2, random_state=0)
    )
    facts = model_of(diabetes_result, key)
    assert [c["params"]["max_features"] for c in facts["candidates"]] == max_features
    chosen = facts["candidates"][facts["best"]]["params"]
    model = forest(n_estimators=200, random_state=0, **chosen)
    scores = []
    for fit, score in KFold(5, shuffle=True, random_state=0).split(train):
        predicted = model.fit(x[train[fit]], y[train[fit]]).predict(x[train[score]])
        scores.append(sk.root_mean_squared_error(y[train[score]], predicted))
    assert facts["cv"]["fold_scores"] == pytest.approx(scores)
    predicted = model.fit(x[train], y[train]).predict(x[test])
    assert facts["test"]["metrics"]["rmse"] == pytest.approx(
        sk.root_mean_squared_error(y[test], predicted)
    )


def test_adaboost_matches_a_direct_fit(diabetes_result: StudyResult) -> None:
    x, y = load_diabetes(return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0)
    train, test = np.sort(train), np.sort(test)
    facts = model_of(diabetes_result, "adaboost")
    best = facts["candidates"][facts["best"]]["params"]
    model = AdaBoostRegressor(DecisionTreeRegressor(**best), n_estimators=100, random_state=0)
    predicted = model.fit(x[train], y[train]).predict(x[test])
    assert facts["test"]["metrics"]["rmse"] == pytest.approx(
        sk.root_mean_squared_error(y[test], predicted)
    )


def test_gradient_boosting_matches_a_direct_fit(diabetes_result: StudyResult) -> None:
    x, y = load_diabetes(return_X_y=True)
    train, test = (
        np.sort(r) for r in train_test_split(np.arange(len(y)), test_size=0.2, random_state=0)
    )
    facts = model_of(diabetes_result, "gradient_boosting")
    best = facts["candidates"][facts["best"]]["params"]
    model = HistGradientBoostingRegressor(**best)
    scores = []
    for fit, score in KFold(5, shuffle=True, random_state=0).split(train):
        predicted = model.fit(x[train[fit]], y[train[fit]]).predict(x[train[score]])
        scores.append(sk.root_mean_squared_error(y[train[score]], predicted))
    assert facts["cv"]["fold_scores"] == pytest.approx(scores)
    predicted = model.fit(x[train], y[train]).predict(x[test])
    assert facts["test"]["metrics"]["rmse"] == pytest.approx(
        sk.root_mean_squared_error(y[test], predicted)
    )


def test_the_interval_is_a_bootstrap_of_the_test_rows(diabetes_result: StudyResult) -> None:
    for model in diabetes_result.facts["models"]:
        interval, residuals = model["test"]["interval"], model["test"]["residuals"]
        residual = np.asarray(residuals["residual"])
        draw = np.random.default_rng(99)
        rmse = [np.sqrt(np.mean(draw.choice(residual, len(residual)) ** 2)) for _ in range(2000)]
        low, high = np.quantile(rmse, [0.025, 0.975])
        assert interval["low"] == pytest.approx(low, rel=0.02)
        assert interval["high"] == pytest.approx(high, rel=0.02)


def test_the_tree_of_the_facts_matches_the_fitted_tree(
    mixed: pd.DataFrame, mixed_result: StudyResult
) -> None:
    tree = mixed_result.facts["tree"]
    root = tree["nodes"][0]
    assert (root["parent"], root["depth"], root["n"]) == (None, 0, 128)
    assert tree["class_labels"] == ["no", "yes"]
    by_id = {node["id"]: node for node in tree["nodes"]}
    for node in tree["nodes"]:
        assert sum(node["value"]) == pytest.approx(1.0)
        if node["left"] is not None:
            left, right = by_id[node["left"]], by_id[node["right"]]
            assert node["n"] == left["n"] + right["n"]
            assert left["parent"] == right["parent"] == node["id"]
        # Only a column with missing values sends them to a side.
        assert (node["missing"] is not None) == (node["feature"] == "age")
    x, y = by_hand_features(mixed), (mixed["rich"] == "yes").astype(int).to_numpy()
    train, _ = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    dummies = pd.get_dummies(x, columns=["city"]).astype(float)
    stump = DecisionTreeClassifier(max_depth=1).fit(dummies.iloc[train].to_numpy(), y[train])
    name = dummies.columns[int(stump.tree_.feature[0])].replace("city_", "city = ")
    assert root["feature"] == name.replace("days", "since (days)")
    assert root["threshold"] == pytest.approx(float(stump.tree_.threshold[0]))
    assert root["impurity"] == pytest.approx(float(stump.tree_.impurity[0]))


def test_models_are_sorted_by_score(
    mixed_result: StudyResult, diabetes_result: StudyResult
) -> None:
    means = [m["cv"]["mean"] for m in mixed_result.facts["models"]]
    assert means == sorted(means, reverse=True)
    means = [m["cv"]["mean"] for m in diabetes_result.facts["models"]]
    assert means == sorted(means)
    for result in (mixed_result, diabetes_result):
        for model in result.facts["models"]:
            candidates = [c["mean"] for c in model["candidates"]]
            best = max if result.facts["study"]["greater_is_better"] else min
            assert model["cv"]["mean"] == best(candidates) == candidates[model["best"]]


def test_the_description_matches_the_table(mixed: pd.DataFrame, mixed_result: StudyResult) -> None:
    data = mixed_result.facts["data"]
    columns = {c["name"]: c for c in data["columns"]}
    assert {n: c["role"] for n, c in columns.items() if c["role"] != "feature"} == {
        "id": "left_out",
        "same": "left_out",
        "comment": "left_out",
        "rich": "target",
    }
    assert data["n_missing_cells"] == int(mixed.isna().sum().sum())
    age = columns["age"]
    assert age["numeric"]["mean"] == pytest.approx(mixed["age"].mean())
    assert age["numeric"]["sd"] == pytest.approx(mixed["age"].std())
    assert age["numeric"]["q1"] == pytest.approx(mixed["age"].quantile(0.25))
    assert sum(age["histogram"]["counts"]) == 140
    assert columns["city"]["top"] == [[k, v] for k, v in mixed["city"].value_counts().items()]
    assert columns["since"]["kind"] == "datetime"
    texts = [n["text"] for n in data["notes"]]
    assert any("Missing in 20 rows" in t for t in texts)
    assert any("identifier" in t for t in texts)


def test_duplicates_are_counted(only: Any, tmp_path: Path, mixed: pd.DataFrame) -> None:
    only("most_frequent")
    columns = ["age", "city", "wealth", "rich"]
    doubled = pd.concat([mixed[columns], mixed[columns].head(7)])
    facts = Study(doubled, target="rich", output_dir=tmp_path).run().facts
    assert facts["data"]["n_duplicate_rows"] == 7
    assert any("7 of 167 rows repeat" in n["text"] for n in facts["data"]["notes"])


@pytest.mark.usefixtures("undrawn_here")
def test_any_number_of_processes_gives_the_same_facts(
    only: Any, tmp_path: Path, mixed: pd.DataFrame, timeless: Timeless
) -> None:
    only("logistic", "neighbours")
    one = Study(mixed, target="rich", output_dir=tmp_path / "one", n_jobs=1).run()
    two = Study(mixed, target="rich", output_dir=tmp_path / "two", n_jobs=2).run()
    assert timeless(one.facts) == timeless(two.facts)


@pytest.mark.usefixtures("undrawn_here")
def test_finished_work_is_not_repeated(
    only: Any, fits: list[Any], tmp_path: Path, mixed: pd.DataFrame, timeless: Timeless
) -> None:
    only("cart", "logistic")
    study = Study(mixed, target="rich", output_dir=tmp_path)
    first = study.run()
    alone = [m for m in first.facts["models"] if m["key"] in ("cart", "logistic")]
    in_full = [fit for fit in fits if fit[1] in ("0", "1", "2", "3", "4")]
    assert len(in_full) == 5 * sum(len(m["candidates"]) for m in alone)
    assert sum(fit[1] == "test" for fit in fits) == 2
    assert len(set(fits)) == len(fits)
    fits.clear()
    second = study.run()
    assert fits == []
    assert timeless(second.facts) == timeless(first.facts)


@pytest.mark.usefixtures("undrawn_here")
def test_an_interrupted_study_resumes(
    only: Any,
    fits: list[Any],
    tmp_path: Path,
    mixed: pd.DataFrame,
    timeless: Timeless,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only("naive_bayes", "logistic")
    expected = Study(mixed, target="rich", output_dir=tmp_path / "whole").run()
    n_fits, recording = len(fits), pool.run_job
    for stop_after in (0, 11, 40, 41, 44):
        fits.clear()

        def stop(job: Any, shared: Any, stop_after: int = stop_after) -> dict[str, Any]:
            if len(fits) == stop_after:
                raise KeyboardInterrupt
            return recording(job, shared)

        monkeypatch.setattr(pool, "run_job", stop)
        out = tmp_path / f"stopped after {stop_after}"
        study = Study(mixed, target="rich", output_dir=out)
        with pytest.raises(KeyboardInterrupt):
            study.run()
        assert not (out / "results.json").exists()
        monkeypatch.setattr(pool, "run_job", recording)
        result = study.run()
        assert len(fits) == len(set(fits)) == n_fits
        assert timeless(result.facts) == timeless(expected.facts)


@pytest.mark.usefixtures("undrawn_here")
def test_the_folder_of_another_study_is_refused(
    only: Any, tmp_path: Path, mixed: pd.DataFrame
) -> None:
    only("most_frequent")
    Study(mixed, target="rich", output_dir=tmp_path).run()
    before = (tmp_path / "results.json").read_bytes()
    for change in ({"random_state": 1}, {"metric": "mcc"}, {"target": "member"}):
        with pytest.raises(StudyError, match="another study"):
            Study(mixed, **{"target": "rich", "output_dir": tmp_path, **change}).run()
    changed = mixed.assign(age=mixed["age"] + 1)
    with pytest.raises(StudyError, match=r"another study .not the same: data"):
        Study(changed, target="rich", output_dir=tmp_path).run()
    assert (tmp_path / "results.json").read_bytes() == before


def explode(setting: Any, params: Any) -> Any:
    return LogisticRegression(C=-1.0) if params.get("bad", True) else LogisticRegression(max_iter=1)


def test_a_failing_model_is_reported_and_the_others_continue(
    only: Any, tmp_path: Path, mixed: pd.DataFrame
) -> None:
    broken = Model("broken", "Broken", "classification", explode, lambda s: [{}])
    half = Model(
        "half", "Half", "classification", explode, lambda s: [{"bad": True}, {"bad": False}]
    )
    only(broken, half, "most_frequent")
    result = Study(mixed, target="rich", output_dir=tmp_path).run()
    validate(result.facts)
    assert result.facts["models"][-1]["key"] == "broken"
    failed, ok = model_of(result, "broken"), model_of(result, "half")
    assert failed["status"] == "failed"
    assert "'C' parameter" in failed["error"]
    assert (failed["best"], failed["cv"], failed["test"], failed["candidates"]) == (
        None,
        None,
        None,
        [],
    )
    assert ok["status"] == "ok"
    assert [c["params"] for c in ok["candidates"]] == [{"bad": False}]
    assert ok["best"] == 0
    assert "1 of 2 candidates failed" in ok["note"]
    assert "ConvergenceWarning" in ok["note"]
    assert "failed" in (tmp_path / "leaderboard.csv").read_text()


@pytest.mark.parametrize("budget", [None, 600.0])
def test_an_unreadable_model_does_not_end_the_study(
    only: Any,
    tmp_path: Path,
    mixed: pd.DataFrame,
    monkeypatch: pytest.MonkeyPatch,
    budget: float | None,
) -> None:
    def damaged(*_: Any) -> Any:
        raise StudyError("The file logistic.model is damaged.")

    monkeypatch.setattr(best_model, "read_model", damaged)
    only("logistic", "most_frequent")
    result = Study(mixed, target="rich", output_dir=tmp_path, time_budget=budget).run()
    validate(result.facts)
    for part in ("importance", "surrogate"):
        assert result.facts[part]["skipped"] == "The file logistic.model is damaged"
    assert "The file logistic.model is damaged" in result.report.read_text()


def test_running_out_of_memory_after_the_models_does_not_end_the_study(
    only: Any, tmp_path: Path, mixed: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_much(*_: Any) -> Any:
        raise MemoryError

    only("logistic", "most_frequent")
    with monkeypatch.context() as short:
        short.setattr(best_model, "read_model", too_much)
        result = Study(mixed, target="rich", output_dir=tmp_path, lang="es").run()
    validate(result.facts)
    for part in ("importance", "surrogate"):
        assert result.facts[part]["skipped"] == "there was not memory enough for it"
    assert "no hubo memoria suficiente" in result.report.read_text()
    # Nothing of it was kept: with memory enough it is done.
    again = Study(mixed, target="rich", output_dir=tmp_path, lang="es").run()
    assert again.facts["importance"]["skipped"] is None


@pytest.mark.usefixtures("undrawn_here")
def test_log_loss_requires_probabilities(only: Any, tmp_path: Path, mixed: pd.DataFrame) -> None:
    only("svm", "logistic", "most_frequent")
    options = {"target": "rich", "metric": "log_loss", "preset": "thesis"}  # without calibration
    result = Study(mixed, output_dir=tmp_path, **options).run()
    assert "gives no probabilities" in model_of(result, "svm")["error"]
    assert [m["key"] for m in result.facts["models"]] == ["logistic", "most_frequent", "svm"]
    assert result.facts["study"]["greater_is_better"] is False


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1_macro", "mcc", "roc_auc"])
def test_metrics_of_several_classes_are_computed(only: Any, tmp_path: Path, metric: str) -> None:
    only("naive_bayes", "most_frequent")
    result = Study("iris", target="target", output_dir=tmp_path, metric=metric).run()
    validate(result.facts)
    best = result.facts["models"][0]
    assert best["key"] == "naive_bayes"
    assert best["cv"]["mean"] > 0.9
    test = best["test"]
    assert test["interval"]["low"] <= test["metrics"][metric] <= test["interval"]["high"]
    assert [c["label"] for c in test["roc"]] == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("metric", ["mae", "r2"])
def test_metrics_of_a_regression_are_computed(only: Any, tmp_path: Path, metric: str) -> None:
    only("ridge", "mean")
    facts = Study("diabetes", target="target", output_dir=tmp_path, metric=metric).run().facts
    assert [m["key"] for m in facts["models"]] == ["ridge", "mean"]
    interval = facts["models"][0]["test"]["interval"]
    assert interval["low"] <= facts["models"][0]["test"]["metrics"][metric] <= interval["high"]


@pytest.mark.usefixtures("undrawn_here")
def test_test_rows_do_not_affect_the_folds(
    only: Any, tmp_path: Path, mixed: pd.DataFrame, timeless: Timeless
) -> None:
    only("cart", "logistic", "neighbours")
    y = (mixed["rich"] == "yes").to_numpy()
    _, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    spoiled = mixed.copy()
    spoiled.loc[test, "age"] = 1e6
    spoiled.loc[test, "city"] = "Elsewhere"
    first = Study(mixed, target="rich", output_dir=tmp_path / "a").run().facts["models"]
    second = Study(spoiled, target="rich", output_dir=tmp_path / "b").run().facts["models"]
    first, second = timeless(first), timeless(second)
    assert [m["candidates"] for m in first] == [m["candidates"] for m in second]
    assert [m["test"] for m in first] != [m["test"] for m in second]


def test_random_labels_score_as_chance(only: Any, tmp_path: Path) -> None:
    only("cart", "logistic")
    draw = np.random.default_rng(4)
    n = 600
    frame = pd.DataFrame(
        {
            "many": draw.choice([f"l{i}" for i in range(200)], n),
            "number": draw.normal(size=n),
            "y": draw.choice(["a", "b"], n),
        }
    )
    for model in Study(frame, target="y", output_dir=tmp_path).run().facts["models"]:
        # Three standard deviations of the mean over 480 rows.
        assert abs(model["cv"]["metrics"]["roc_auc"]["mean"] - 0.5) < 3 * 0.5 / np.sqrt(480)


def test_degenerate_tables_are_studied_or_refused(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "huge": draw.choice([1e308, -1e308, 1.0], n),
            "tiny": draw.choice([5e-324, -0.0, 0.0], n),
            "empty": [None] * n,
            "sparse": [1.0] + [None] * (n - 1),
            "<b>x</b>": draw.normal(size=n),
            "y": ["=a"] * 38 + ["<script>"] * 20 + ["rare"] * 2,
        }
    )
    result = Study(frame, target="y", output_dir=tmp_path).run()
    validate(result.facts)
    assert any(m["status"] == "ok" and m["key"] == "cart" for m in result.facts["models"])
    page = result.report.read_text()
    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e68])
def test_targets_of_any_scale_are_studied(only: Any, tmp_path: Path, scale: float) -> None:
    only("cart", "ridge", "mean")
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"x": draw.normal(size=60), "y": draw.integers(0, 20, 60) * scale})
    result = Study(frame, target="y", output_dir=tmp_path).run()
    validate(result.facts)
    assert all(m["status"] == "ok" for m in result.facts["models"])


def test_columns_near_the_float64_limits_are_described(only: Any, tmp_path: Path) -> None:
    only("most_frequent")
    n, largest = 60, np.finfo(np.float64).max
    frame = pd.DataFrame(
        {
            "ends": [-largest, largest] * (n // 2),
            "same": [2**60] * n,
            "x": np.random.default_rng(0).normal(size=n),
            "y": ["a", "b"] * (n // 2),
        }
    )
    result = Study(frame, target="y", output_dir=tmp_path).run()
    validate(result.facts)
    ends, same = result.facts["data"]["columns"][:2]
    assert (ends["numeric"]["q1"], ends["numeric"]["median"]) == (-largest, 0)
    assert ends["numeric"]["sd"] is None
    assert sum(same["histogram"]["counts"]) == n
    assert np.all(np.diff(same["histogram"]["edges"]) > 0)


def test_numeric_names_are_supported(only: Any, tmp_path: Path) -> None:
    only("most_frequent")
    frame = pd.DataFrame({0: np.random.default_rng(0).normal(size=60), 1: ["a", "b"] * 30})
    result = Study(frame, target=1, output_dir=tmp_path).run()  # type: ignore[arg-type]
    assert result.facts["study"]["target"] == "1"


def test_a_fold_can_lack_a_class(only: Any, tmp_path: Path) -> None:
    only("svm", "naive_bayes")
    x = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"x": x, "y": ["a"] * 40 + ["b"] * 17 + ["c"] * 3})
    with pytest.raises(
        StudyError, match="No model could be scored.*roc_auc is not defined in fold 1"
    ):
        Study(frame, target="y", output_dir=tmp_path / "roc", metric="roc_auc").run()
    facts = json.loads((tmp_path / "roc" / "results.json").read_text())
    error = next(m["error"] for m in facts["models"] if m["key"] == "naive_bayes")
    assert error == "ValueError: roc_auc is not defined in fold 1, whose rows lack a class"
    options = {"target": "y", "metric": "log_loss", "preset": "thesis"}
    by_loss = Study(frame, output_dir=tmp_path / "loss", **options).run()
    assert model_of(by_loss, "naive_bayes")["status"] == "ok"
    assert "gives no probabilities" in model_of(by_loss, "svm")["error"]


class ShortOfMemory(GaussianNB):  # type: ignore[misc]
    """Fails for want of memory the first time, in each process."""

    failures = 1

    def fit(self, X: Any, y: Any) -> Any:
        if ShortOfMemory.failures:
            ShortOfMemory.failures -= 1
            raise MemoryError("no room")
        return super().fit(X, y)


@pytest.mark.usefixtures("undrawn_here")
def test_a_fold_that_ran_out_of_memory_is_retried(
    only: Any, tmp_path: Path, mixed: pd.DataFrame
) -> None:
    poor = Model(
        "poor", "Poor", "classification", lambda s, p: ShortOfMemory(), lambda s: [{}], "scaled"
    )
    only("most_frequent", poor)
    study = Study(mixed, target="rich", output_dir=tmp_path, n_jobs=1)
    ShortOfMemory.failures = 1
    assert "no room" in model_of(study.run(), "poor")["error"]
    assert model_of(study.run(), "poor")["status"] == "ok"


def test_several_rare_classes_are_reported(only: Any, tmp_path: Path) -> None:
    only("most_frequent")
    frame = pd.DataFrame(
        {"x": np.arange(60.0) ** 1.5, "y": ["a"] * 40 + ["b"] * 9 + ["c"] * 6 + ["d"] * 5}
    )
    notes = Study(frame, target="y", output_dir=tmp_path).run().facts["data"]["notes"]
    assert any("3 classes have fewer than 10 rows ('d' has 5)" in n["text"] for n in notes)


def test_formulas_are_escaped_for_spreadsheets(
    only: Any, tmp_path: Path, mixed: pd.DataFrame
) -> None:
    evil = Model("evil", "=1+1", "classification", catalogue.CATALOGUE[0].make, lambda s: [{}])
    only(evil)
    Study(mixed, target="rich", output_dir=tmp_path, metric="mcc").run()
    text = (tmp_path / "leaderboard.csv").read_text()
    assert "1,'=1+1,ok,mcc,0.0," in text
    frame = pd.read_csv(tmp_path / "leaderboard.csv")
    assert frame.loc[0, "model"] == "'=1+1"


def test_a_negative_number_stays_a_number(only: Any, tmp_path: Path) -> None:
    only("mean")
    Study("diabetes", target="target", output_dir=tmp_path, metric="r2").run()
    value = pd.read_csv(tmp_path / "leaderboard.csv").loc[0, "cv_mean"]
    assert value < 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"task": "ranking"}, "no task 'ranking'"),
        ({"metric": "rmse"}, "no metric 'rmse' for classification; choose one of accuracy"),
        ({"random_state": -1}, "must be an integer from 0 to 4294967295, got -1"),
        ({"random_state": 1.5}, "must be an integer from 0 to 4294967295, got 1.5"),
        ({"n_jobs": 0}, "must be an integer >= 1, got 0"),
        ({"n_jobs": "2"}, "must be an integer >= 1, got '2'"),
    ],
)
def test_invalid_options_are_refused(
    tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(StudyError, match=sentence):
        Study("iris", target="target", output_dir=tmp_path / "new", **options).run()
    assert not (tmp_path / "new").exists()


def test_the_default_folder_has_a_safe_name() -> None:
    assert default_folder("adult", "income").as_posix() == "studies/adult-income"
    assert default_folder("a b", "../<x>/y").as_posix() == "studies/a_b-.._x_y"
    assert default_folder("ü", "名").as_posix() == "studies/ü-名"
