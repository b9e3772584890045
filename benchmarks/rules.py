"""Compare fixed combination rules with learned combinations on real tables.

    python benchmarks/rules.py [--tables saheart adult] [--rows 6000] [--learn 1000] [--out r.json]
    python benchmarks/rules.py --show r.json

All combinations have the same eight members, some of them poor: their five-fold out-of-fold
predictions within the training rows are computed once, and every combination is based on them.
There are five folds of a fixed random sample of each table. Only ``--learn`` training rows per fold
are used, so that the test sets are large. The test rows are not used before they are predicted.

Prints Markdown: differences to the mean of the probabilities on the same folds, with their standard
error (corrected for rows shared by folds, Nadeau and Bengio 2003). "Two failed" is the same with
two members, different ones in every fold, whose predictions for the test rows are shuffled, which
their out-of-fold predictions do not reveal.
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
from selection import compute_loss, draw_rows, make_preparation
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

import arboleda
from arboleda.combine import MemberOutputs, combine_outputs, out_of_fold_outputs, outputs_of
from arboleda.combine._combination import FitInputs
from arboleda.combine._fits import MemberTraining
from arboleda.combine._greedy_selection import make_ensemble_scorer, select_greedily
from arboleda.combine._posterior import (
    class_log_likelihood,
    gaussian_log_likelihood,
    posterior,
    spread,
)
from arboleda.combine._voting import CLASS_RULES, VALUE_RULES
from arboleda.combine._weighted_mean import constrained_weights
from tables import TABLES, Problem

N_FOLDS = 5
CORRECTION = 1 / N_FOLDS + 1 / (N_FOLDS - 1)  # of the variance over folds


def make_members(task: str) -> list[tuple[str, Any]]:
    """Return eight models, each with its preparation."""
    if task == "regression":
        scaled: dict[str, Any] = {
            "linear": Ridge(),
            "near": KNeighborsRegressor(15),
            "vectors": LinearSVR(C=1000.0, max_iter=5000, random_state=0),
            "network": scale_target(
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
        (name, make_pipeline(make_preparation(scaled=many is scaled), model))
        for many in (scaled, plain)
        for name, model in many.items()
    ]


def scale_target(model: Any) -> Any:
    """Wrap a regressor so that it learns a standardised target."""
    from sklearn.compose import TransformedTargetRegressor

    return TransformedTargetRegressor(model, transformer=StandardScaler())


class StoredPredictions:
    """Predictions of fitted members, which replace the members in a dynamic selection."""

    def __init__(self, outputs: MemberOutputs, test_outputs: MemberOutputs) -> None:
        self.outputs, self.test_outputs = outputs, test_outputs

    def selection(self, inputs: FitInputs, **parameters: Any) -> Any:
        of_classes = self.outputs.classes is not None
        kind = (
            arboleda.DynamicSelectionClassifier
            if of_classes
            else arboleda.DynamicSelectionRegressor
        )
        model = kind(inputs.members, **parameters)
        model.estimators_ = inputs.members
        if of_classes:
            model.classes_ = self.outputs.classes
        model._held_out = lambda _: self.outputs
        model._learn(inputs)
        start = iter(range(0, self.test_outputs.outputs.shape[1], 2048))

        def predict_members(rows: Any, _: Any) -> MemberOutputs:
            first = next(start)
            part = self.test_outputs.outputs[:, first : first + len(rows)]
            return MemberOutputs(
                self.test_outputs.names, part, self.test_outputs.classes, np.arange(len(rows)), 0
            )

        model._predict_members = predict_members
        return model


def combine_all(
    outputs: MemberOutputs, test_outputs: MemberOutputs, y: Any, near: Any
) -> dict[str, Any]:
    """Return the predictions of every combination for the test rows: probabilities, or values.

    ``near`` has the columns used for distances, of the training rows and of the test rows.
    """
    classes = outputs.classes is not None
    combined = {
        rule: combine_outputs(test_outputs, rule, seen=outputs, y=y, n_jobs=1)  # type: ignore[arg-type]
        for rule in (CLASS_RULES if classes else VALUE_RULES)
    }
    weights = learn_weights(outputs, y)
    for name, each in weights.items():
        combined[name] = np.tensordot(each, test_outputs.outputs, 1)
    final = (LogisticRegression(max_iter=500) if classes else RidgeCV()).fit(
        stack_columns(outputs), y
    )
    predict = final.predict_proba if classes else final.predict
    combined["stack"] = predict(stack_columns(test_outputs))
    training = MemberTraining(near[0], y, outputs.classes)
    inputs = FitInputs(list(enumerate(outputs.names)), training, None, np.ones(len(y)), False, None)
    methods = ("knora_u", "des_p", "meta_des") if classes else ("ds", "dws")
    for method in methods:
        model = StoredPredictions(outputs, test_outputs).selection(inputs, method=method)
        combined[method] = (model.predict_proba if classes else model.predict)(near[1])
    return combined


def stack_columns(outputs: MemberOutputs) -> Any:
    """Stack the members' predictions as columns for a final estimator."""
    values = outputs.outputs
    if outputs.classes is None:
        return values.T
    return np.hstack(list(values[:, :, 1:] if len(outputs.classes) == 2 else values))


def learn_weights(found: MemberOutputs, y: Any) -> dict[str, Any]:
    """Learn weights from the members' out-of-fold predictions."""
    outputs, n_members, ones = found.outputs, len(found.names), np.ones(len(y))
    if found.classes is None:
        evidence = gaussian_log_likelihood(spread(outputs, y, ones), len(y))
        scoring = "neg_root_mean_squared_error"
    else:
        evidence, scoring = class_log_likelihood(outputs, y, ones), "neg_log_loss"
    scorer = make_ensemble_scorer(scoring, outputs, y, ones, found.classes)
    random = np.random.RandomState(0)
    bags = [random.choice(n_members, n_members // 2, replace=False) for _ in range(20)]
    greedy = [select_greedily(scorer, bag.tolist(), None, 50).shares(n_members) for bag in bags]
    return {
        "best member": np.eye(n_members)[int(np.argmax(evidence))],
        "simplex": constrained_weights(outputs, y, "simplex"),
        "greedy": np.mean(greedy, axis=0),
        "BMA": posterior(evidence, np.full(n_members, 1 / n_members)),
    }


def shuffle_two_members(test_outputs: MemberOutputs, random: Any) -> MemberOutputs:
    """Shuffle the predictions of two members among the rows."""
    outputs = test_outputs.outputs.copy()
    for member in random.choice(len(outputs), 2, replace=False):
        outputs[member] = random.permutation(outputs[member])
    return MemberOutputs(
        test_outputs.names,
        outputs,
        test_outputs.classes,
        test_outputs.rows,
        test_outputs.n_table_rows,
    )


def compute_scores(combined: dict[str, Any], target: Any, task: str) -> dict[str, dict[str, float]]:
    if task == "regression":
        return {
            "rmse": {
                name: compute_loss(task, target, predictions)
                for name, predictions in combined.items()
            }
        }
    right = {
        name: (predictions.argmax(axis=1) == target).mean()
        for name, predictions in combined.items()
    }
    log_loss = {
        name: compute_loss(task, target, predictions) for name, predictions in combined.items()
    }
    return {"accuracy": right, "log_loss": log_loss}


def measure(problem: Problem, n_fits: int) -> dict[str, Any]:
    """Return the scores of every combination for each fold."""
    named, folds = make_members(problem.task), []
    for number, (rest, test) in enumerate(problem.folds()):
        random = np.random.default_rng(number)
        train = np.sort(random.permutation(rest)[:n_fits])
        X, y = problem.frame.iloc[train], problem.target[train]
        X_test, target = problem.frame.iloc[test], problem.target[test]
        outputs = out_of_fold_outputs(named, X, y, cv=N_FOLDS, n_jobs=1)
        fitted = [(name, clone(member).fit(X, y)) for name, member in named]
        test_outputs = outputs_of(fitted, X_test, outputs.classes)
        scaling = make_preparation(scaled=True).fit(X)
        near = scaling.transform(X), scaling.transform(X_test)
        fold = compute_scores(combine_all(outputs, test_outputs, y, near), target, problem.task)
        alone = compute_scores(
            dict(zip(test_outputs.names, test_outputs.outputs, strict=True)), target, problem.task
        )
        worse = compute_scores(
            combine_all(outputs, shuffle_two_members(test_outputs, random), y, near),
            target,
            problem.task,
        )
        folds.append({"all": fold, "members": alone, "two failed": worse})
    return {"task": problem.task, "rows": len(problem.target), "folds": folds}


def compute_difference(
    result: dict[str, Any], part: str, score: str, method: str
) -> tuple[float, float]:
    """Return the mean difference to the mean of the members over the folds, and its error."""
    scores = [fold[part][score] for fold in result["folds"]]
    each = np.array([fold[method] - fold["mean"] for fold in scores])
    if score == "rmse":
        each = each / np.mean([fold["mean"] for fold in scores])
    return 100 * float(each.mean()), 100 * float(np.sqrt(CORRECTION * each.var(ddof=1)))


def show(results: dict[str, Any]) -> None:
    """Print the results for classification, then those for regression."""
    for score, tasks in (("accuracy", {"binary", "multiclass"}), ("rmse", {"regression"})):
        some_results = {n: r for n, r in results.items() if r["task"] in tasks}
        if some_results:
            show_table(some_results, score)


def show_table(results: dict[str, Any], score: str) -> None:
    first = next(iter(results.values()))["folds"][0]
    methods = list(first["all"][score])
    print(f"\n{score}, percentage points (rmse: per cent) more than the mean of all members\n")
    print("| rule | " + " | ".join(results) + " | rank | log-loss rank | two failed |")
    print("|---|" + "---:|" * (len(results) + 3))
    level = [
        f"{np.mean([f['all'][score]['mean'] for f in r['folds']]):.4g}" for r in results.values()
    ]
    print("| level of the mean | " + " | ".join(level) + " | | | |")
    ranks = {name: compute_ranks(results, name, methods) for name in first["all"]}
    for method in methods:
        cells = [
            "{:+.1f} ± {:.1f}".format(*compute_difference(r, "all", score, method))
            for r in results.values()
        ]
        worse = [compute_difference(r, "two failed", score, method)[0] for r in results.values()]
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
    print(f"\n{format_n_members(first)}; 1 is the best rank of {len(methods)}.")


def format_n_members(fold: dict[str, Any]) -> str:
    return f"{len(next(iter(fold['members'].values())))} members"


def compute_ranks(results: dict[str, Any], score: str, methods: list[str]) -> dict[str, float]:
    """Return the mean rank of each method over the tables; 1 is the best."""
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
    arguments = parser.parse_args()
    if arguments.show is not None:
        show(json.loads(arguments.show.read_text()))
        return
    warnings.simplefilter("ignore", ConvergenceWarning)
    results: dict[str, Any] = {}
    for name in arguments.tables:
        began = time.process_time()
        results[name] = measure(draw_rows(TABLES[name](), arguments.rows), arguments.learn)
        print(f"{name}: {time.process_time() - began:.0f} s", file=sys.stderr, flush=True)
        if arguments.out is not None:
            arguments.out.write_text(json.dumps(results, indent=1))
    show(results)


if __name__ == "__main__":
    main()
