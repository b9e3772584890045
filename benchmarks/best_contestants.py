"""The contestants of `best.py`; each runs in its own process with a time budget.

    python benchmarks/best_contestants.py TABLE CONTESTANT BUDGET THREADS FIRST_CORE FILE

All learn from the same four fifths of the rows and are scored on the others by log-loss or root
mean squared error. LightGBM, XGBoost and CatBoost are tuned by Optuna's TPE over a search space
based on their guides. A trial is five folds, each with early stopping on its held-out rows; the
best candidate is fitted to all training rows with 1.1 times the mean number of rounds. A fit takes
at most a third of the time, and 1.5 times the longest fit is reserved for the last one, so that
large tables get fewer rounds instead of exceeding the budget. AutoGluon has the trees of its
preset `best_quality` and its linear model, and can run in another interpreter.
"""

import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent / "quality"))

if TYPE_CHECKING:
    from tables import Problem

FOLDS, PATIENCE, MOST_ROUNDS = 5, 50, 3000
Rows = npt.NDArray[np.intp]
Predictions = npt.NDArray[np.float64]
# Predictions for the test rows, and further facts for the file of results.
ContestantResult = tuple[Predictions, dict[str, Any]]


def make_lightgbm(trial: Any, regression: bool, rounds: int, threads: int) -> Any:
    import lightgbm

    kind = lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier
    return kind(
        n_estimators=rounds,
        learning_rate=trial.suggest_float("learning_rate", 0.01, 0.2, log=True),
        num_leaves=trial.suggest_int("num_leaves", 8, 256, log=True),
        min_child_samples=trial.suggest_int("min_child_samples", 2, 100, log=True),
        colsample_bytree=trial.suggest_float("colsample_bytree", 0.3, 1.0),
        subsample=trial.suggest_float("subsample", 0.5, 1.0),
        subsample_freq=1,
        reg_lambda=trial.suggest_float("reg_lambda", 1e-3, 30.0, log=True),
        reg_alpha=trial.suggest_float("reg_alpha", 1e-3, 10.0, log=True),
        n_jobs=threads,
        random_state=0,
        verbose=-1,
    )


def make_xgboost(trial: Any, regression: bool, rounds: int, threads: int) -> Any:
    import xgboost

    kind = xgboost.XGBRegressor if regression else xgboost.XGBClassifier
    return kind(
        n_estimators=rounds,
        learning_rate=trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        max_depth=trial.suggest_int("max_depth", 3, 10),
        min_child_weight=trial.suggest_float("min_child_weight", 0.5, 30.0, log=True),
        colsample_bytree=trial.suggest_float("colsample_bytree", 0.3, 1.0),
        subsample=trial.suggest_float("subsample", 0.5, 1.0),
        reg_lambda=trial.suggest_float("reg_lambda", 1e-3, 30.0, log=True),
        reg_alpha=trial.suggest_float("reg_alpha", 1e-3, 10.0, log=True),
        enable_categorical=True,
        n_jobs=threads,
        random_state=0,
        verbosity=0,
    )


def make_catboost(trial: Any, regression: bool, rounds: int, threads: int) -> Any:
    import catboost

    kind = catboost.CatBoostRegressor if regression else catboost.CatBoostClassifier
    return kind(
        iterations=rounds,
        learning_rate=trial.suggest_float("learning_rate", 0.02, 0.3, log=True),
        depth=trial.suggest_int("depth", 4, 10),
        l2_leaf_reg=trial.suggest_float("l2_leaf_reg", 0.5, 30.0, log=True),
        random_strength=trial.suggest_float("random_strength", 0.1, 10.0, log=True),
        bagging_temperature=trial.suggest_float("bagging_temperature", 0.0, 1.0),
        thread_count=threads,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )


Fit = Callable[[Any, pd.DataFrame, Any, Any, float], Any]


def fit_lightgbm(model: Any, x: pd.DataFrame, y: Any, held_out: Any, end: float) -> Any:
    import lightgbm

    def stop_in_time(env: Any) -> None:
        if time.monotonic() > end:
            raise lightgbm.callback.EarlyStopException(
                env.iteration, env.evaluation_result_list or []
            )

    if held_out is None:
        return model.fit(x, y, callbacks=[stop_in_time])
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    return model.fit(x, y, eval_set=[held_out], callbacks=[stop, stop_in_time])


def fit_xgboost(model: Any, x: pd.DataFrame, y: Any, held_out: Any, end: float) -> Any:
    import xgboost

    class StopInTime(xgboost.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return time.monotonic() > end

    model.set_params(callbacks=[StopInTime()])
    if held_out is None:
        return model.fit(x, y)
    model.set_params(early_stopping_rounds=PATIENCE)
    return model.fit(x, y, eval_set=[held_out], verbose=False)


def fit_catboost(model: Any, x: pd.DataFrame, y: Any, held_out: Any, end: float) -> Any:
    class StopInTime:
        def after_iteration(self, info: Any) -> bool:
            return time.monotonic() <= end

    categories = list(x.columns[x.dtypes == "category"])
    if held_out is None:
        return model.fit(
            convert_categories(x), y, cat_features=categories, callbacks=[StopInTime()]
        )
    return model.fit(
        convert_categories(x),
        y,
        cat_features=categories,
        eval_set=(convert_categories(held_out[0]), held_out[1]),
        early_stopping_rounds=PATIENCE,
        callbacks=[StopInTime()],
    )


def convert_categories(x: pd.DataFrame) -> pd.DataFrame:
    """Convert categories to text, as CatBoost requires."""
    return x.astype(dict.fromkeys(x.columns[x.dtypes == "category"], str))


TUNED: dict[str, tuple[Callable[..., Any], Fit]] = {
    "LightGBM": (make_lightgbm, fit_lightgbm),
    "XGBoost": (make_xgboost, fit_xgboost),
    "CatBoost": (make_catboost, fit_catboost),
}


def count_best_rounds(name: str, model: Any) -> int:
    """Return the number of rounds of the best iteration."""
    best = model.best_iteration if name == "XGBoost" else model.best_iteration_
    # LightGBM counts from 1, the others from 0.
    return max(1, int(best or 0) + (name != "LightGBM"))


def predict(name: str, model: Any, x: pd.DataFrame, regression: bool) -> Predictions:
    """Predict values, or probabilities, normalised because some libraries use single precision."""
    x = convert_categories(x) if name == "CatBoost" else x
    predicted = np.asarray(
        model.predict(x) if regression else model.predict_proba(x), dtype=np.float64
    )
    return predicted if regression else predicted / predicted.sum(axis=1, keepdims=True)


def compute_loss(problem: "Problem", rows: Rows, predicted: Predictions) -> float:
    """Root mean squared error, or log-loss."""
    from sklearn.metrics import log_loss

    y = problem.target[rows]
    if problem.task == "regression":
        return float(np.sqrt(np.mean((y - predicted) ** 2)))
    return float(log_loss(y, predicted, labels=range(predicted.shape[1])))


def run_tuned(
    name: str, problem: "Problem", train: Rows, test: Rows, budget: float, threads: int
) -> ContestantResult:
    """Tune a library within the budget and predict the test rows."""
    import optuna
    from sklearn.model_selection import KFold, StratifiedKFold

    started = time.monotonic()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    make, fit = TUNED[name]
    regression = problem.task == "regression"
    x, y = problem.frame.iloc[train], problem.target[train]
    splitter = (KFold if regression else StratifiedKFold)(FOLDS, shuffle=True, random_state=0)
    folds = list(splitter.split(x, y))
    longest = 0.0

    def get_time_left() -> float:
        reserve = max(0.1 * budget, 1.5 * longest)
        return started + budget - reserve - time.monotonic()

    def objective(trial: Any) -> float:
        nonlocal longest
        losses, rounds = [], []
        for learn, held in folds:
            if get_time_left() < longest:
                trial.study.stop()
                # The first trial may be cut short: there must be one result.
                if trial.number or not losses:
                    raise optuna.TrialPruned
                break
            since = time.monotonic()
            end = since + min(get_time_left(), budget / 3)
            model = make(trial, regression, MOST_ROUNDS, threads)
            fit(model, x.iloc[learn], y[learn], (x.iloc[held], y[held]), end)
            rounds.append(count_best_rounds(name, model))
            losses.append(
                compute_loss(problem, train[held], predict(name, model, x.iloc[held], regression))
            )
            longest = max(longest, time.monotonic() - since)
        trial.set_user_attr("rounds", float(np.mean(rounds)))
        return float(np.mean(losses))

    search = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    search.optimize(objective, timeout=get_time_left())
    best = search.best_trial
    rounds = max(1, round(1.1 * best.user_attrs["rounds"]))
    model = make(optuna.trial.FixedTrial(best.params), regression, rounds, threads)
    fit(model, x, y, None, started + budget)
    full = sum(trial.state.name == "COMPLETE" for trial in search.trials)
    predicted = predict(name, model, problem.frame.iloc[test], regression)
    return predicted, {"note": f"{full} trials, {rounds} rounds"}


def run_autogluon(
    problem: "Problem", train: Rows, test: Rows, budget: float, threads: int
) -> ContestantResult:
    """Predict with AutoGluon's preset `best_quality`, restricted to trees and linear models."""
    from autogluon.tabular import TabularPredictor
    from autogluon.tabular.configs.hyperparameter_configs import get_hyperparameter_config

    defaults = get_hyperparameter_config("zeroshot")
    frame = problem.frame.assign(target=problem.target)
    regression = problem.task == "regression"
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor(
            "target",
            problem_type=problem.task,
            eval_metric="rmse" if regression else "log_loss",
            path=folder,
            verbosity=1,
        ).fit(
            frame.iloc[train],
            time_limit=budget,
            presets="best_quality",
            hyperparameters={kind: defaults[kind] for kind in ("GBM", "XGB", "CAT", "RF", "XT")}
            | {"LR": {}},
            num_cpus=threads,
        )
        rows = problem.frame.iloc[test]
        predicted = predictor.predict(rows) if regression else predictor.predict_proba(rows)
        return predicted.to_numpy(dtype=np.float64), {"note": f"{predictor.model_best}"}


def run_arboleda(
    problem: "Problem", train: Rows, test: Rows, budget: float, threads: int
) -> ContestantResult:
    """Predict with the best model of a study with preset `best`; add the loss of every model."""
    from arboleda.study import Study

    regression = problem.task == "regression"
    metric = "rmse" if regression else "log_loss"
    frame = problem.frame.assign(target=problem.target)
    with tempfile.TemporaryDirectory() as folder:
        facts = (
            Study(
                frame.iloc[train],
                target="target",
                test=frame.iloc[test],
                task="regression" if regression else "classification",
                metric=metric,
                preset="best",
                time_budget=budget,
                n_jobs=threads,
                output_dir=folder,
            )
            .run()
            .facts
        )
        loaded = Study.load(folder)
        model, rows = loaded.best_model_, problem.frame.iloc[test]
        predicted = model.predict(rows) if regression else model.predict_proba(rows)
        losses = {
            each["key"]: {"folds": each["cv"]["mean"], "test": each["test"]["metrics"][metric]}
            for each in facts["models"]
            if each["status"] == "ok"
        }
        note = f"{loaded.best_key} of {len(facts['models'])} models"
        return np.asarray(predicted), {"note": note, "models": losses}


PACKAGES = {
    "arboleda": "arboleda",
    "LightGBM": "lightgbm",
    "XGBoost": "xgboost",
    "CatBoost": "catboost",
    "AutoGluon": "autogluon.tabular",
}


def main() -> None:
    """Run one contestant and write its result."""
    table, name, out = sys.argv[1], sys.argv[2], Path(sys.argv[6])
    budget, threads, first_core = float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
    warnings.simplefilter("ignore")  # deprecations inside the libraries
    cores = sorted(os.sched_getaffinity(0))[first_core : first_core + threads]
    os.sched_setaffinity(0, cores)
    from sklearn.model_selection import train_test_split

    from tables import WHOLE_TABLES

    problem = WHOLE_TABLES[table]()
    rows = np.arange(len(problem.target))
    classes = None if problem.task == "regression" else problem.target
    train, test = train_test_split(rows, test_size=0.2, stratify=classes, random_state=0)
    started = time.monotonic()
    if name in TUNED:
        predicted, details = run_tuned(name, problem, train, test, budget, threads)
    else:
        contestant = run_arboleda if name == "arboleda" else run_autogluon
        predicted, details = contestant(problem, train, test, budget, threads)
    result = {
        "loss": compute_loss(problem, test, predicted),
        "seconds": round(time.monotonic() - started, 1),
        **details,
        "version": version(PACKAGES[name]),
    }
    out.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
