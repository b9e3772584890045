"""The rules of combination beside what is learned of the members, on the real tables.

    python benchmarks/rules.py [--tables saheart adult] [--rows 6000] [--learn 1000] [--out r.json]
    python benchmarks/rules.py --show r.json

The same eight members for every rule, some of them poor ones: their answers are computed once,
five-fold out of fold within the rows that they learn from, and every combination is made of these.
Five folds of a fixed random part of each table, of whose rows only so many are learned from as
``--learn`` says: the tests stay large. Nothing of the test rows is seen before they are predicted.

Printed as Markdown: differences to the mean of the probabilities, fold by fold of the same rows,
with their standard error (corrected for the folds' common rows, Nadeau and Bengio 2003). "Two
broken" is the same with two members, others in every fold, whose answers on the test rows are
shuffled between the rows: what they said out of fold does not tell.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from selection import loss, preparation, some
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR
from tables import TABLES, Problem

import arboleda
from arboleda.combine import MemberOutputs, combine_outputs, out_of_fold_outputs, outputs_of
from arboleda.combine._constrained_weights import constrained_weights
from arboleda.combine._ensemble_scorers import make_ensemble_scorer
from arboleda.combine._fits import Training
from arboleda.combine._greedy_selection import select_greedily
from arboleda.combine._learned import FitInputs
from arboleda.combine._posterior import (
    class_log_likelihood,
    gaussian_log_likelihood,
    posterior,
    spread,
)
from arboleda.combine._rules import CLASS_RULES, VALUE_RULES

N_FOLDS = 5
CORRECTION = 1 / N_FOLDS + 1 / (N_FOLDS - 1)  # of the variance over folds


def members(task: str) -> list[tuple[str, Any]]:
    """Eight models, each with its preparation."""
    if task == "regression":
        scaled: dict[str, Any] = {
            "linear": Ridge(),
            "near": KNeighborsRegressor(15),
            "vectors": LinearSVR(C=1000.0, max_iter=5000, random_state=0),
            "network": of_scaled_target(
                MLPRegressor(hidden_layer_sizes=(32,), max_iter=300, random_state=0)
            ),
        }
        plain = {
            "tree": arboleda.DecisionTreeRegressor(min_samples_leaf=5, random_state=0),
            "forest": arboleda.RandomForestRegressor(random_state=0),
            "extra": arboleda.ExtraTreesRegressor(random_state=0),
            "boosted": arboleda.HistGradientBoostingRegressor(max_iter=60, random_state=0),
        }
    else:
        scaled = {
            "logistic": LogisticRegression(),
            "bayes": GaussianNB(),
            "near": KNeighborsClassifier(15),
            "discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
            "network": MLPClassifier((32,), max_iter=100, random_state=0),
        }
        plain = {
            "tree": arboleda.DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
            "forest": arboleda.RandomForestClassifier(random_state=0),
            "boosted": arboleda.HistGradientBoostingClassifier(max_iter=60, random_state=0),
        }
    return [
        (name, make_pipeline(preparation(scaled=many is scaled), model))
        for many in (scaled, plain)
        for name, model in many.items()
    ]


def of_scaled_target(model: Any) -> Any:
    """A regressor of a scaled target."""
    from sklearn.compose import TransformedTargetRegressor

    return TransformedTargetRegressor(model, transformer=StandardScaler())


class Replayed:
    """Takes the place of fitted members in a dynamic selection: their answers are known."""

    def __init__(self, found: MemberOutputs, said: MemberOutputs) -> None:
        self.found, self.said = found, said

    def selection(self, given: FitInputs, **parameters: Any) -> Any:
        of_classes = self.found.classes is not None
        kind = (
            arboleda.DynamicSelectionClassifier
            if of_classes
            else arboleda.DynamicSelectionRegressor
        )
        model = kind(given.members, **parameters)
        model.estimators_ = given.members
        if of_classes:
            model.classes_ = self.found.classes
        model._held_out = lambda _: self.found
        model._learn(given)
        start = iter(range(0, self.said.outputs.shape[1], 2048))

        def ask(rows: Any, _: Any) -> MemberOutputs:
            first = next(start)
            part = self.said.outputs[:, first : first + len(rows)]
            return MemberOutputs(self.said.names, part, self.said.classes, np.arange(len(rows)), 0)

        model._predict_members = ask
        return model


def combined(found: MemberOutputs, said: MemberOutputs, y: Any, near: Any) -> dict[str, Any]:
    """What every combination says of the test rows: shares of classes, or values.

    ``near`` holds the columns, of the rows learned from and of the test rows, that distances are
    measured by.
    """
    classes = found.classes is not None
    answers = {
        rule: combine_outputs(said, rule, seen=found, y=y, n_jobs=1)  # type: ignore[arg-type]
        for rule in (CLASS_RULES if classes else VALUE_RULES)
    }
    weights = weights_of(found, y)
    for name, each in weights.items():
        answers[name] = np.tensordot(each, said.outputs, 1)
    final = (LogisticRegression(max_iter=500) if classes else RidgeCV()).fit(columns(found), y)
    answer = final.predict_proba if classes else final.predict
    answers["stack"] = answer(columns(said))
    training = Training(near[0], y, found.classes)
    given = FitInputs(list(enumerate(found.names)), training, None, np.ones(len(y)), False, None)
    methods = ("knora_u", "des_p", "meta_des") if classes else ("ds", "dws")
    for method in methods:
        model = Replayed(found, said).selection(given, method=method)
        answers[method] = (model.predict_proba if classes else model.predict)(near[1])
    return answers


def columns(outputs: MemberOutputs) -> Any:
    """What the members say, side by side, as a stack sees it."""
    said = outputs.outputs
    if outputs.classes is None:
        return said.T
    return np.hstack(list(said[:, :, 1:] if len(outputs.classes) == 2 else said))


def weights_of(found: MemberOutputs, y: Any) -> dict[str, Any]:
    """Weights that are learned from what the members say out of fold."""
    outputs, n_members, one = found.outputs, len(found.names), np.ones(len(y))
    if found.classes is None:
        evidence = gaussian_log_likelihood(spread(outputs, y, one), len(y))
        scoring = "neg_root_mean_squared_error"
    else:
        evidence, scoring = class_log_likelihood(outputs, y, one), "neg_log_loss"
    judge = make_ensemble_scorer(scoring, outputs, y, one, found.classes)
    random = np.random.RandomState(0)
    bags = [random.choice(n_members, n_members // 2, replace=False) for _ in range(20)]
    greedy = [select_greedily(judge, bag.tolist(), None, 50).shares(n_members) for bag in bags]
    return {
        "best member": np.eye(n_members)[int(np.argmax(evidence))],
        "simplex": constrained_weights(outputs, y, "simplex"),
        "greedy": np.mean(greedy, axis=0),
        "BMA": posterior(evidence, np.full(n_members, 1 / n_members)),
    }


def broken(said: MemberOutputs, random: Any) -> MemberOutputs:
    """Two members whose answers are shuffled between the rows."""
    outputs = said.outputs.copy()
    for member in random.choice(len(outputs), 2, replace=False):
        outputs[member] = random.permutation(outputs[member])
    return MemberOutputs(said.names, outputs, said.classes, said.rows, said.n_table_rows)


def judged(answers: dict[str, Any], target: Any, task: str) -> dict[str, dict[str, float]]:
    if task == "regression":
        return {"rmse": {name: loss(task, target, said) for name, said in answers.items()}}
    right = {name: (said.argmax(axis=1) == target).mean() for name, said in answers.items()}
    log_loss = {name: loss(task, target, said) for name, said in answers.items()}
    return {"accuracy": right, "log_loss": log_loss}


def measure(given: Problem, n_fits: int) -> dict[str, Any]:
    """Scores of every combination, fold by fold."""
    named, folds = members(given.task), []
    for number, (rest, test) in enumerate(given.folds()):
        random = np.random.default_rng(number)
        train = np.sort(random.permutation(rest)[:n_fits])
        X, y = given.frame.iloc[train], given.target[train]
        X_test, target = given.frame.iloc[test], given.target[test]
        found = out_of_fold_outputs(named, X, y, cv=N_FOLDS, n_jobs=1)
        fitted = [(name, clone(member).fit(X, y)) for name, member in named]
        said = outputs_of(fitted, X_test, found.classes)
        scaling = preparation(scaled=True).fit(X)
        near = scaling.transform(X), scaling.transform(X_test)
        fold = judged(combined(found, said, y, near), target, given.task)
        alone = judged(dict(zip(said.names, said.outputs, strict=True)), target, given.task)
        worse = judged(combined(found, broken(said, random), y, near), target, given.task)
        folds.append({"all": fold, "members": alone, "two broken": worse})
    return {"task": given.task, "rows": len(given.target), "folds": folds}


def difference(result: dict[str, Any], part: str, score: str, method: str) -> tuple[float, float]:
    """Mean over the folds of the difference to the mean of the members, with its error."""
    scores = [fold[part][score] for fold in result["folds"]]
    each = np.array([one[method] - one["mean"] for one in scores])
    if score == "rmse":
        each = each / np.mean([one["mean"] for one in scores])
    return 100 * float(each.mean()), 100 * float(np.sqrt(CORRECTION * each.var(ddof=1)))


def show(results: dict[str, Any]) -> None:
    """Print the tables of classes, then that of values."""
    for score, tasks in (("accuracy", {"binary", "multiclass"}), ("rmse", {"regression"})):
        some_results = {n: r for n, r in results.items() if r["task"] in tasks}
        if some_results:
            show_one(some_results, score)


def show_one(results: dict[str, Any], score: str) -> None:
    first = next(iter(results.values()))["folds"][0]
    methods = list(first["all"][score])
    print(f"\n{score}, percentage points (rmse: per cent) more than the mean of all members\n")
    print("| rule | " + " | ".join(results) + " | rank | log-loss rank | two broken |")
    print("|---|" + "---:|" * (len(results) + 3))
    level = [
        f"{np.mean([f['all'][score]['mean'] for f in r['folds']]):.4g}" for r in results.values()
    ]
    print("| level of the mean | " + " | ".join(level) + " | | | |")
    ranks = {name: ranks_by(results, name, methods) for name in first["all"]}
    for method in methods:
        cells = [
            "{:+.1f} ± {:.1f}".format(*difference(r, "all", score, method))
            for r in results.values()
        ]
        worse = [difference(r, "two broken", score, method)[0] for r in results.values()]
        rank = f"{ranks[score][method]:.1f}"
        of_loss = f"{ranks['log_loss'][method]:.1f}" if "log_loss" in ranks else ""
        line = " | ".join([method, *cells, rank, of_loss, f"{np.mean(worse):+.1f}"])
        print(f"| {line} |")
    for name in first["members"][score]:
        cells = [
            f"{np.mean([f['members'][score][name] for f in r['folds']]):.4g}"
            for r in results.values()
        ]
        print(f"| member {name} | " + " | ".join(cells) + " | | | |")
    print(f"\n{n_members_text(first)}; 1 is the best rank of {len(methods)}.")


def n_members_text(fold: dict[str, Any]) -> str:
    return f"{len(next(iter(fold['members'].values())))} members"


def ranks_by(results: dict[str, Any], score: str, methods: list[str]) -> dict[str, float]:
    """Mean rank of each method over the tables; 1 is the best."""
    sign = -1 if score == "accuracy" else 1
    ranks = [
        rankdata([sign * np.mean([f["all"][score][m] for f in r["folds"]]) for m in methods])
        for r in results.values()
    ]
    return dict(zip(methods, np.mean(ranks, axis=0).tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--learn", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--show", type=Path, default=None)
    given = parser.parse_args()
    if given.show is not None:
        show(json.loads(given.show.read_text()))
        return
    warnings.simplefilter("ignore", ConvergenceWarning)
    results: dict[str, Any] = {}
    for name in given.tables:
        began = time.process_time()
        results[name] = measure(some(TABLES[name](), given.rows), given.learn)
        print(f"{name}: {time.process_time() - began:.0f} s", file=sys.stderr, flush=True)
        if given.out is not None:
            given.out.write_text(json.dumps(results, indent=1))
    show(results)


if __name__ == "__main__":
    main()
