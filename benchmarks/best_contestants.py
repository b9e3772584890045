"""What the contestants of `best.py` do with a table in so many seconds; one of them a process.

    python benchmarks/best_contestants.py TABLE CONTESTANT BUDGET THREADS FIRST_CORE FILE

All learn from the same four fifths of the rows and are judged on the others by log-loss or root
mean squared error. LightGBM, XGBoost and CatBoost are searched by Optuna's TPE over a space such as
the guide of each advises: a trial is five folds, each of which stops by the rows it holds out; what
was best is fitted to all training rows, with the mean number of rounds and a tenth more. A fit may
not take more than a third of the time, and as much is left for the last one as the longest took and
half of it, so that large tables are answered by fewer rounds and not by overtime. AutoGluon has the
trees of its preset `best_quality` and its linear model. It may be run by an interpreter of its own.
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
Answers = npt.NDArray[np.float64]
# The answers for the test rows, and what is told of them besides their loss.
Answered = tuple[Answers, dict[str, Any]]


def lightgbm_model(trial: Any, regression: bool, rounds: int, threads: int) -> Any:
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


def xgboost_model(trial: Any, regression: bool, rounds: int, threads: int) -> Any:
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


def catboost_model(trial: Any, regression: bool, rounds: int, threads: int) -> Any:
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

    def in_time(env: Any) -> None:
        if time.monotonic() > end:
            raise lightgbm.callback.EarlyStopException(
                env.iteration, env.evaluation_result_list or []
            )

    if held_out is None:
        return model.fit(x, y, callbacks=[in_time])
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    return model.fit(x, y, eval_set=[held_out], callbacks=[stop, in_time])


def fit_xgboost(model: Any, x: pd.DataFrame, y: Any, held_out: Any, end: float) -> Any:
    import xgboost

    class InTime(xgboost.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return time.monotonic() > end

    model.set_params(callbacks=[InTime()])
    if held_out is None:
        return model.fit(x, y)
    model.set_params(early_stopping_rounds=PATIENCE)
    return model.fit(x, y, eval_set=[held_out], verbose=False)


def fit_catboost(model: Any, x: pd.DataFrame, y: Any, held_out: Any, end: float) -> Any:
    class InTime:
        def after_iteration(self, info: Any) -> bool:
            return time.monotonic() <= end

    categories = list(x.columns[x.dtypes == "category"])
    if held_out is None:
        return model.fit(catboost_frame(x), y, cat_features=categories, callbacks=[InTime()])
    return model.fit(
        catboost_frame(x),
        y,
        cat_features=categories,
        eval_set=(catboost_frame(held_out[0]), held_out[1]),
        early_stopping_rounds=PATIENCE,
        callbacks=[InTime()],
    )


def catboost_frame(x: pd.DataFrame) -> pd.DataFrame:
    """Categories as the text that CatBoost wants."""
    return x.astype(dict.fromkeys(x.columns[x.dtypes == "category"], str))


PEERS: dict[str, tuple[Callable[..., Any], Fit]] = {
    "LightGBM": (lightgbm_model, fit_lightgbm),
    "XGBoost": (xgboost_model, fit_xgboost),
    "CatBoost": (catboost_model, fit_catboost),
}


def rounds_of(name: str, model: Any) -> int:
    """Rounds at which a fit was best."""
    best = model.best_iteration if name == "XGBoost" else model.best_iteration_
    # LightGBM counts rounds, the others number them from 0.
    return max(1, int(best or 0) + (name != "LightGBM"))


def answers(name: str, model: Any, x: pd.DataFrame, regression: bool) -> Answers:
    """Values, or probabilities that add up to one: peers answer in single precision."""
    x = catboost_frame(x) if name == "CatBoost" else x
    said = np.asarray(model.predict(x) if regression else model.predict_proba(x), dtype=np.float64)
    return said if regression else said / said.sum(axis=1, keepdims=True)


def loss(problem: "Problem", rows: Rows, said: Answers) -> float:
    """Root mean squared error, or log-loss."""
    from sklearn.metrics import log_loss

    y = problem.target[rows]
    if problem.task == "regression":
        return float(np.sqrt(np.mean((y - said) ** 2)))
    return float(log_loss(y, said, labels=range(said.shape[1])))


def tuned(
    name: str, problem: "Problem", train: Rows, test: Rows, budget: float, threads: int
) -> Answered:
    """What a peer says of the test rows after a search of so many seconds."""
    import optuna
    from sklearn.model_selection import KFold, StratifiedKFold

    started = time.monotonic()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    make, fit = PEERS[name]
    regression = problem.task == "regression"
    x, y = problem.frame.iloc[train], problem.target[train]
    splitter = (KFold if regression else StratifiedKFold)(FOLDS, shuffle=True, random_state=0)
    folds = list(splitter.split(x, y))
    longest = 0.0

    def left() -> float:
        reserve = max(0.1 * budget, 1.5 * longest)
        return started + budget - reserve - time.monotonic()

    def objective(trial: Any) -> float:
        nonlocal longest
        losses, rounds = [], []
        for learn, held in folds:
            if left() < longest:
                trial.study.stop()
                # The first trial may be cut short: there must be an answer.
                if trial.number or not losses:
                    raise optuna.TrialPruned
                break
            since = time.monotonic()
            end = since + min(left(), budget / 3)
            model = make(trial, regression, MOST_ROUNDS, threads)
            fit(model, x.iloc[learn], y[learn], (x.iloc[held], y[held]), end)
            rounds.append(rounds_of(name, model))
            losses.append(
                loss(problem, train[held], answers(name, model, x.iloc[held], regression))
            )
            longest = max(longest, time.monotonic() - since)
        trial.set_user_attr("rounds", float(np.mean(rounds)))
        return float(np.mean(losses))

    search = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    search.optimize(objective, timeout=left())
    best = search.best_trial
    rounds = max(1, round(1.1 * best.user_attrs["rounds"]))
    model = make(optuna.trial.FixedTrial(best.params), regression, rounds, threads)
    fit(model, x, y, None, started + budget)
    full = sum(trial.state.name == "COMPLETE" for trial in search.trials)
    said = answers(name, model, problem.frame.iloc[test], regression)
    return said, {"note": f"{full} trials, {rounds} rounds"}


def autogluon(problem: "Problem", train: Rows, test: Rows, budget: float, threads: int) -> Answered:
    """What AutoGluon's preset `best_quality` says, of trees and linear models alone."""
    from autogluon.tabular import TabularPredictor
    from autogluon.tabular.configs.hyperparameter_configs import get_hyperparameter_config

    known = get_hyperparameter_config("zeroshot")
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
            hyperparameters={kind: known[kind] for kind in ("GBM", "XGB", "CAT", "RF", "XT")}
            | {"LR": {}},
            num_cpus=threads,
        )
        rows = problem.frame.iloc[test]
        said = predictor.predict(rows) if regression else predictor.predict_proba(rows)
        return said.to_numpy(dtype=np.float64), {"note": f"{predictor.model_best}"}


def ours(problem: "Problem", train: Rows, test: Rows, budget: float, threads: int) -> Answered:
    """What the best model of a study with the preset `best` says, and the loss of every model."""
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
        said = model.predict(rows) if regression else model.predict_proba(rows)
        losses = {
            each["key"]: {"folds": each["cv"]["mean"], "test": each["test"]["metrics"][metric]}
            for each in facts["models"]
            if each["status"] == "ok"
        }
        note = f"{loaded.best_key} of {len(facts['models'])} models"
        return np.asarray(said), {"note": note, "models": losses}


PACKAGES = {
    "arboleda": "arboleda",
    "LightGBM": "lightgbm",
    "XGBoost": "xgboost",
    "CatBoost": "catboost",
    "AutoGluon": "autogluon.tabular",
}


def main() -> None:
    """Run one contestant and write what came out."""
    table, name, out = sys.argv[1], sys.argv[2], Path(sys.argv[6])
    budget, threads, first_core = float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
    warnings.simplefilter("ignore")  # what libraries say of their own changes
    cores = sorted(os.sched_getaffinity(0))[first_core : first_core + threads]
    os.sched_setaffinity(0, cores)
    from sklearn.model_selection import train_test_split
    from tables import WHOLE_TABLES

    problem = WHOLE_TABLES[table]()
    rows = np.arange(len(problem.target))
    classes = None if problem.task == "regression" else problem.target
    train, test = train_test_split(rows, test_size=0.2, stratify=classes, random_state=0)
    started = time.monotonic()
    if name in PEERS:
        said, told = tuned(name, problem, train, test, budget, threads)
    else:
        contestant = ours if name == "arboleda" else autogluon
        said, told = contestant(problem, train, test, budget, threads)
    result = {
        "loss": loss(problem, test, said),
        "seconds": round(time.monotonic() - started, 1),
        **told,
        "version": version(PACKAGES[name]),
    }
    out.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
