"""Preset "best" beside tuned LightGBM, XGBoost and CatBoost: the same rows, the same wall time.

    python benchmarks/best.py [--budget 900] [--tables adult,spambase] [--rows N] [--out FILE]

On each table of the quality study the preset has the budget in seconds. Each peer has as much for a
search by Optuna's TPE over a space such as its own guide advises: a trial is five folds, each of
which stops by the rows it holds out; what was best is fitted to all training rows, with the mean
number of rounds and a tenth more. All are judged on the same test rows, those of the study, by
log-loss or root mean squared error, and ranked; equals share a rank. AutoGluon is not among them:
it was not installed where this was run.
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

sys.path.insert(0, str(Path(__file__).parent / "quality"))

from tables import TABLES, Problem

from arboleda.study import Study

FOLDS, PATIENCE, MOST_ROUNDS = 5, 50, 3000
Said = npt.NDArray[np.float64]


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


PEERS: dict[str, Callable[..., Any]] = {
    "LightGBM": lightgbm_model,
    "XGBoost": xgboost_model,
    "CatBoost": catboost_model,
}


def fit(name: str, model: Any, x: pd.DataFrame, y: Any, held_out: Any = None) -> Any:
    """Fit a peer, with its own early stopping where rows are held out."""
    if name == "CatBoost":
        categories = list(x.columns[x.dtypes == "category"])
        x = x.astype(dict.fromkeys(categories, str))
        if held_out is None:
            return model.fit(x, y, cat_features=categories)
        valid = held_out[0].astype(dict.fromkeys(categories, str))
        return model.fit(
            x,
            y,
            cat_features=categories,
            eval_set=(valid, held_out[1]),
            early_stopping_rounds=PATIENCE,
        )
    if held_out is None:
        return model.fit(x, y)
    if name == "LightGBM":
        import lightgbm

        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        return model.fit(x, y, eval_set=[held_out], callbacks=[stop])
    return model.set_params(early_stopping_rounds=PATIENCE).fit(
        x, y, eval_set=[held_out], verbose=False
    )


def rounds_of(name: str, model: Any) -> int:
    """Rounds at which a fit was best."""
    best = model.best_iteration if name == "XGBoost" else model.best_iteration_
    # LightGBM counts rounds, the others number them from 0.
    return max(1, int(best or 0) + (name != "LightGBM"))


def says(name: str, model: Any, x: pd.DataFrame, regression: bool) -> Said:
    if name == "CatBoost":
        x = x.astype(dict.fromkeys(x.columns[x.dtypes == "category"], str))
    said = np.asarray(model.predict(x) if regression else model.predict_proba(x), dtype=np.float64)
    # Peers answer in single precision: rows add up to one only so far.
    return said if regression else said / said.sum(axis=1, keepdims=True)


def loss(y: Any, said: Said, n_classes: int) -> float:
    """Root mean squared error, or log-loss."""
    if not n_classes:
        return float(np.sqrt(np.mean((y - said) ** 2)))
    return float(log_loss(y, said, labels=range(n_classes)))


def tuned(name: str, problem: Problem, train: Any, test: Any, budget: float, threads: int) -> Said:
    """What a peer says of the test rows after a search of so many seconds."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    regression = problem.task == "regression"
    n_classes = 0 if regression else int(problem.target.max()) + 1
    x, y = problem.frame.iloc[train], problem.target[train]
    splitter = (KFold if regression else StratifiedKFold)(FOLDS, shuffle=True, random_state=0)
    folds = list(splitter.split(x, y))
    end = time.monotonic() + 0.85 * budget  # the rest is for the last fit

    def objective(trial: Any) -> float:
        losses, rounds = [], []
        for k, (learn, held) in enumerate(folds):
            model = PEERS[name](trial, regression, MOST_ROUNDS, threads)
            held_out = (x.iloc[held], y[held])
            fit(name, model, x.iloc[learn], y[learn], held_out)
            rounds.append(rounds_of(name, model))
            losses.append(loss(y[held], says(name, model, x.iloc[held], regression), n_classes))
            trial.set_user_attr("rounds", float(np.mean(rounds)))
            # The first trial may be cut short: there must be an answer.
            if time.monotonic() > end:
                if trial.number:
                    raise optuna.TrialPruned
                break
            trial.report(float(np.mean(losses)), k)
        return float(np.mean(losses))

    search = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    search.optimize(objective, timeout=max(1.0, end - time.monotonic()))
    best = search.best_trial
    rounds = max(1, round(1.1 * best.user_attrs["rounds"]))
    model = PEERS[name](optuna.trial.FixedTrial(best.params), regression, rounds, threads)
    fit(name, model, x, y)
    print(f"  {name}: {len(search.trials)} trials", flush=True)
    return says(name, model, problem.frame.iloc[test], regression)


def ours(problem: Problem, folder: Path, budget: float, threads: int) -> tuple[Any, Any, Said, str]:
    """Training rows, test rows, and what the study's best model says of these."""
    regression = problem.task == "regression"
    frame = problem.frame.assign(target=problem.target)
    study = Study(
        frame,
        target="target",
        task="regression" if regression else "classification",
        metric="rmse" if regression else "log_loss",
        preset="best",
        time_budget=budget,
        jobs=threads,
        out=folder,
    )
    study.run()
    loaded = Study.load(folder)
    model, rows = loaded.best_model_, loaded.test_rows()
    said = model.predict(rows.X) if regression else model.predict_proba(rows.X)
    return loaded.training_rows().numbers, rows.numbers, np.asarray(said), loaded.best_key


def main() -> None:
    """Run all tables and print losses, ranks and their means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=float, default=900.0)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    contestants, rows = ["arboleda best", *PEERS], []
    warnings.simplefilter("ignore")  # what libraries say of their own changes
    for name in args.tables.split(","):
        problem = TABLES[name]()
        if len(problem.frame) > args.rows:
            some = np.random.default_rng(0).choice(len(problem.frame), args.rows, replace=False)
            problem = Problem(problem.frame.iloc[some], problem.target[some], problem.task)
        n_classes = 0 if problem.task == "regression" else int(problem.target.max()) + 1
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            train, test, said, key = ours(problem, Path(folder), args.budget, args.threads)
            print(f"{name}: {key}, {time.monotonic() - started:.0f} s", flush=True)
        answers = [said] + [
            tuned(peer, problem, train, test, args.budget, args.threads) for peer in PEERS
        ]
        losses = [loss(problem.target[test], said, n_classes) for said in answers]
        ranks = rankdata(losses).tolist()
        rows.append({"table": name, "chosen": key, "losses": losses, "ranks": ranks})
        shown = ", ".join(f"{c} {v:.5g}" for c, v in zip(contestants, losses, strict=True))
        print(f"{name}: {shown}", flush=True)
        if args.out:
            args.out.write_text(json.dumps({"budget": args.budget, "rows": rows}, indent=1))
    means = np.mean([row["ranks"] for row in rows], axis=0)
    for contestant, mean in zip(contestants, means, strict=True):
        print(f"mean rank of {contestant}: {mean:.2f}")


if __name__ == "__main__":
    main()
