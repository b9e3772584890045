"""Facts of made-up studies: random but seeded, following the schema."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from tests.browsing import browser, open_page  # noqa: F401 - fixtures

from arboleda.study.config.settings import Settings
from arboleda.study.results.thresholds import choose_threshold, count_decisions

Facts = dict[str, Any]
SCHEMA = Path(__file__).parents[3] / "src/arboleda/facts/study.schema.json"
LETTERS = [chr(ord("A") + index) for index in range(26)]
NAMES = [
    "Support vector machine",
    "Decision tree (CART)",
    "Logistic regression",
    "Multilayer perceptron",
    "Linear discriminant analysis",
    "k-nearest neighbours",
    "Gaussian naive Bayes",
    "Baseline",
]


class Builder:
    """Draws one study's facts from one random generator."""

    def __init__(self, task: str, classes: list[str], seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.task, self.classes = task, classes
        self.main = "rmse" if task == "regression" else "accuracy"

    def facts(self, n_columns: int = 12) -> Facts:
        regression = self.task == "regression"
        models = [self.model(rank, name) for rank, name in enumerate(NAMES)]
        models.append(failed("QDA", "LinAlgError: the covariance of class 3 is singular"))
        return {
            "schema_version": 4,
            "arboleda_version": "0.1.0",
            "study": {
                "table": "flower beds.csv.gz",
                "target": "price" if regression else "kind",
                "task": self.task,
                "seed": 0,
                "folds": 5,
                "test_size": 0.2,
                "settings": Settings().to_dict(),
                "scheme": {
                    "name": "5",
                    "kind": "kfold",
                    "folds": 5,
                    "repeats": 1,
                    "test": "random",
                },
                "models": ["core"],
                "metric": self.main,
                "metric_label": "RMSE" if regression else "Accuracy",
                "greater_is_better": not regression,
                "positive_class": self.classes[1] if self.task == "binary" else None,
                "data_sha256": "0123456789abcdef" * 4,
                "test_sha256": None,
            },
            "data": self.data(n_columns),
            "split": {
                "n_train": 3900,
                "n_test": 980,
                "classes": None
                if regression
                else [
                    {"label": label, "train": 40 + 7 * index, "test": 10 + 2 * index}
                    for index, label in enumerate(self.classes)
                ],
            },
            "models": models,
            "search": {
                "preset": "quick",
                "rounds": 3,
                "budget": 900.0,
                "left_out": [{"key": "x", "name": "Lasso", "candidates": 7, "whole": True}],
            },
            "selection": self.selection(models),
            "comparison": self.comparison(models),
            "costs": None if regression else self.costs(),
            "thresholds": self.thresholds() if self.task == "binary" else None,
            "errors": self.errors(),
            "importance": self.importance(n_columns),
            "surrogate": self.surrogate(),
            "learning_curve": self.learning_curve(models[0]),
            "calibration": None if regression else self.calibration(),
            "tree": self.tree(),
            "environment": {
                "python": "3.11.9",
                "arboleda": "0.1.0",
                "numpy": "2.4.6",
                "scikit_learn": "1.9.1",
                "platform": "Linux-6.1-x86_64",
                "cores": 2,
            },
            "timing": {"started": "2025-03-01T10:20:30+00:00", "total_s": 187.4},
        }

    def data(self, n_columns: int) -> Facts:
        makers = [self.numeric, self.categorical]
        columns = [makers[index % 2](index) for index in range(n_columns)]
        columns[0] |= {"name": "a_column_whose_name_is_far_too_long_for_any_table_to_hold_in_one"}
        columns[1] |= {"role": "left_out", "reason": "constant: every row has the same value"}
        columns[2] |= {"n_missing": 417, "name": "木の高さ (cm) größe"}
        columns[-1] |= {"role": "target", "name": "price" if self.main == "rmse" else "kind"}
        return {
            "n_rows": 4880,
            "n_columns": n_columns,
            "n_duplicate_rows": 24,
            "n_missing_cells": 417,
            "rows_dropped": 620,
            "recipe": {"n_rows": 5500, "steps": self.steps()},
            "columns": columns,
            "notes": [
                {"level": "info", "column": None, "text": "24 rows are copies of other rows."},
                {"level": "warning", "column": columns[1]["name"], "text": "is constant."},
            ],
        }

    def steps(self) -> list[Facts]:
        def step(kind: str, before: int, after: int, *columns: str, **more: Any) -> Facts:
            about = {"columns": list(columns), "condition": None, "into": None, **more}
            return {"kind": kind, "rows_before": before, "rows_after": after, **about}

        into = {"few": [f"level {i}" for i in range(14)], "große <b>": ["<i>", "& so on"]}
        return [
            step("drop_missing", 5500, 5100),
            step("drop_duplicates", 5100, 5000),
            step("where", 5000, 4880, "width 0", condition="width 0 >= 3 and kind 1 != '<oak>'"),
            step("merge", 4880, 4880, "kind 1", into=into),
            step("drop", 4880, 4880, "width <9>", "note"),
        ]

    def numeric(self, index: int) -> Facts:
        values = self.random.gamma(2.0, 30.0, 500)
        counts, edges = np.histogram(values, 20)
        q1, median, q3 = np.percentile(values, [25, 50, 75])
        return {
            "name": f"width {index}",
            "kind": "numeric",
            "role": "feature",
            "reason": None,
            "n_missing": 0,
            "n_distinct": 480,
            "numeric": {
                "min": values.min(),
                "max": values.max(),
                "mean": values.mean(),
                "sd": values.std(),
                "median": median,
                "q1": q1,
                "q3": q3,
            },
            "top": None,
            "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
        }

    def categorical(self, index: int) -> Facts:
        values = ["Gymnosperm", "a fairly long category with several words in it", "oak", "fir"]
        return {
            "name": f"kind {index}",
            "kind": "categorical",
            "role": "feature",
            "reason": None,
            "n_missing": 0,
            "n_distinct": 9,
            "numeric": None,
            "top": [[value, 2000 // (place + 1)] for place, value in enumerate(values)],
            "histogram": None,
        }

    def model(self, rank: int, name: str) -> Facts:
        baseline = name == "Baseline"
        quality = 0.2 if baseline else 0.96 - 0.015 * rank
        scale = 2000.0 * (1.2 - quality) if self.main == "rmse" else quality
        noise = 0.0 if baseline else 0.012 * abs(scale)
        candidates = []
        for depth in [1, 4, 16][: 1 if baseline else 3]:
            folds = (scale + noise * self.random.standard_normal(5)).tolist()
            params = {} if baseline else {"max_depth": depth, "ccp_alpha": 0.0001 * depth}
            mean, sd = float(np.mean(folds)), float(np.std(folds, ddof=1))
            common = {
                "status": "ok",
                "stage": {"share": 1.0, "folds": 5},
                "timing": {"seconds": 0.4},
            }
            scores = {"fold_scores": folds, "mean": mean, "sd": sd}
            candidates.append({"params": params, **scores, **common})
        worse = [-candidate["mean"] for candidate in candidates]
        best = int(np.argmin(worse if self.main == "accuracy" else [-bad for bad in worse]))
        metrics = self.metrics(quality, scale)
        return {
            "key": self.key(name),
            "name": name,
            "engine": "arboleda" if "CART" in name else "scikit-learn",
            "preparation": "one-hot; missing values native",
            "note": "9 rows are too many for an exact kernel" if rank == 0 else None,
            "ensemble": self.ensemble() if rank == 1 else None,
            "status": "ok",
            "error": None,
            "not_kept": None,
            "candidates": candidates,
            "best": best,
            "cv": {
                "fold_scores": candidates[best]["fold_scores"],
                "mean": candidates[best]["mean"],
                "sd": candidates[best]["sd"],
                "metrics": {key: {"mean": value, "sd": 0.01} for key, value in metrics.items()},
            },
            "test": {
                "metrics": metrics,
                "interval": {
                    "metric": self.main,
                    "low": 0.97 * scale,
                    "high": 1.02 * scale,
                    "level": 0.95,
                    "method": "bootstrap of the test rows, 1000 draws",
                },
                **(self.residuals(scale) if self.main == "rmse" else self.classified(quality)),
            },
            "timing": {"fit_s": 10.0 ** (1 - rank), "predict_s": 0.003 * rank, "search_s": 3.5},
        }

    def key(self, name: str) -> str:
        if name == "Baseline":
            return "mean" if self.task == "regression" else "most_frequent"
        return "cart" if "CART" in name else name.lower()

    def metrics(self, quality: float, scale: float) -> Facts:
        if self.main == "rmse":
            explained = {"r2": quality, "nmse": 1 - quality, "mape": None}
            return {"rmse": scale, "mae": 0.7 * scale, "mse": scale**2, **explained}
        return {
            "accuracy": quality,
            "balanced_accuracy": quality - 0.01,
            "f1_macro": quality - 0.02,
            "mcc": 2 * quality - 1,
            "roc_auc": None if quality < 0.5 else (1 + quality) / 2,
            "log_loss": -math.log(quality),
            "brier": 1 - quality,
        }

    def classified(self, quality: float) -> Facts:
        size = len(self.classes)
        share = np.full((size, size), (1 - quality) / max(1, size - 1))
        np.fill_diagonal(share, quality)
        counts = np.array([self.random.multinomial(980 // size, row) for row in share])
        rows = [
            {
                "label": label,
                "precision": float(counts[i, i] / max(1, counts[:, i].sum())),
                "recall": float(counts[i, i] / max(1, counts[i].sum())),
                "specificity": 0.99,
                "f1": quality,
                "support": int(counts[i].sum()),
            }
            for i, label in enumerate(self.classes)
        ]
        average = {key: value for key, value in rows[0].items() if key != "label"}
        drawn = self.classes[1:] if size == 2 else self.classes
        x = np.linspace(0, 1, 200)
        areas = quality - 0.05 * self.random.random(len(drawn))
        return {
            "per_class": rows,
            "averages": {"macro": average, "weighted": average},
            "confusion": {"labels": self.classes, "counts": counts.tolist()},
            "roc": [
                {"label": label, "fpr": x.tolist(), "tpr": (x ** (1 - a)).tolist(), "auc": a}
                for label, a in zip(drawn, areas.tolist(), strict=True)
            ],
            "pr": [
                {
                    "label": label,
                    "recall": x.tolist(),
                    "precision": (1 - (1 - a) * x**4).tolist(),
                    "average_precision": a,
                }
                for label, a in zip(drawn, areas.tolist(), strict=True)
            ],
            "calibration": self.reliability(0.02),
            "residuals": None,
            "groups": self.groups(),
            "costs": {
                "total": 310.0,
                "mean": 0.316,
                "decided": {
                    "calibration": "sigmoid",
                    "total": 280.0,
                    "mean": 0.286,
                    "counts": counts.tolist(),
                },
            },
            "reject": {
                "cost": 1.0,
                "threshold": None,
                "coverage": 0.83,
                "accuracy": 0.97,
                "mean_cost": 0.21,
                "curve": {
                    "threshold": [0.5, 0.7, 0.9],
                    "coverage": [1.0, 0.83, 0.6],
                    "accuracy": [0.95, 0.97, 0.99],
                },
                "classes": [{"label": label, "n": 50, "rejected": 8} for label in self.classes],
            },
        }

    def groups(self) -> list[Facts]:
        rows = [
            {
                "value": f"group {place}",
                "n": 300 - 140 * place,
                "small": place == 2,
                "metrics": {self.main: 0.9 + 0.02 * place},
                "low": 0.85,
                "high": 0.97,
            }
            for place in range(3)
        ]
        gap = {"metric": self.main, "best": "group 1", "worst": "group 0", "difference": 0.02}
        return [{"column": "sex of the tree", "level": 0.95, "rows": rows, "gap": gap}]

    def reliability(self, gap: float) -> Facts:
        return {"error": gap, "largest_by_chance": 0.03, "level": 0.95, "bins": self.bins(gap)}

    def bins(self, gap: float) -> list[Facts]:
        frequencies = [0.03, 0.15, 0.25, 0.36, 0.44, 0.56, 0.65, 0.74, 0.86, 0.98]
        return [
            {
                "lower": b / 10,
                "upper": (b + 1) / 10,
                "count": 20 + 90 * abs(b - 4),
                "mean_probability": p,
                "frequency": min(1.0, max(0.0, p + gap * (1 if p < 0.5 else -1))),
            }
            for b, p in enumerate(frequencies)
            if b != 3
        ]

    def thresholds(self) -> Facts:
        parts = {}
        for part, n_rows in (("held_out", 3900), ("test", 980)):
            is_positive = self.random.random(n_rows) < 0.4
            p = np.clip(0.35 + 0.3 * is_positive + 0.2 * self.random.standard_normal(n_rows), 0, 1)
            parts[part] = is_positive, p
        costs = (1.0, 5.0)
        chosen = choose_threshold(*parts["held_out"], costs)
        grid = sorted({*(round(0.01 * k, 2) for k in range(1, 100)), chosen.threshold})
        return {
            "model": self.key(NAMES[0]),
            "skipped": None,
            "positive": self.classes[1],
            "false_positive_cost": costs[0],
            "false_negative_cost": costs[1],
            "given_costs": True,
            "thresholds": grid,
            "chosen": chosen.model_dump(),
            **{
                part: count_decisions(*rows, grid, costs).model_dump()
                for part, rows in parts.items()
            },
        }

    def errors(self) -> Facts:
        regression = self.task == "regression"
        columns = ["width 0", "kind <b>1</b>", "a date", "flag", "width 4"]
        values = [0.0123456, "oak & <i>fir</i>", "2024-02-29", "true", None]
        rows = [
            {
                "row": 4880 - 17 * place,
                "truth": 1234.5 if regression else self.classes[0],
                "predicted": 1000.25 if regression else self.classes[1],
                "probability": None if regression else 0.01 * (place + 1),
                "loss": 234.25 if regression else 4.6 - 0.1 * place,
                "values": [
                    {"column": column, "value": value}
                    for column, value in zip(columns, values, strict=True)
                ],
            }
            for place in range(10)
        ]
        return {
            "model": self.key(NAMES[0]),
            "loss": "absolute_error" if regression else "log_loss",
            "n_rows": 980,
            "n_wrong": None if regression else 39,
            "rows": rows,
        }

    def calibration(self) -> Facts:
        losses = {"none": 0.31, "sigmoid": 0.27, "isotonic": 0.282, "temperature": 0.275}
        return {
            "model": self.key(NAMES[0]),
            "error": None,
            "metric": "log_loss",
            "chosen": "sigmoid",
            "gain": {"difference": 0.04, "low": 0.01, "high": 0.07, "level": 0.95},
            "variants": [
                {
                    "method": method,
                    "cv": {
                        "metrics": {
                            key: {"folds": [value] * 5, "mean": value, "sd": 0.012}
                            for key, value in (("log_loss", loss), ("brier", loss / 3))
                        },
                        "error": loss / 5,
                        "bins": self.bins(loss / 5),
                    },
                    "test": {
                        "metrics": {"log_loss": loss + 0.01, "brier": loss / 3},
                        "calibration": self.reliability(loss / 4),
                    },
                }
                for method, loss in losses.items()
            ],
            "timing": {"search_s": 1.5},
        }

    def residuals(self, scale: float) -> Facts:
        true = self.random.gamma(4.0, 4000.0, 800)
        residual = scale * self.random.standard_normal(800)
        counts, edges = np.histogram(residual, 20)
        empty = ("per_class", "averages", "confusion", "roc", "pr", "calibration")
        return {
            **dict.fromkeys(empty),
            "residuals": {
                "predicted": (true - residual).tolist(),
                "true": true.tolist(),
                "residual": residual.tolist(),
                "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
            },
        }

    def ensemble(self) -> Facts:
        keys = [self.key(name) for name in NAMES[:4]]
        pairs = [
            {"first": a, "second": b, "disagreement": 0.05, "kappa": 0.8, "error": 0.1}
            for place, a in enumerate(keys)
            for b in keys[place + 1 :]
        ]
        diversity = {"together": {"disagreement": 0.05}, "errors": [0.1] * 4, "pairs": pairs}
        members = [
            {"key": key, "name": name, "weight": 0.4 - 0.1 * place}
            for place, (key, name) in enumerate(zip(keys, NAMES, strict=False))
        ]
        spread = None if self.task == "regression" else diversity
        return {"method": "mean", "members": members, "diversity": spread}

    def selection(self, models: list[Facts]) -> Facts:
        best = models[0]
        mean = best["cv"]["mean"]
        honest = {
            "mean": 0.99 * mean,
            "low": 0.97 * mean,
            "high": mean,
            "level": 0.95,
            "folds": best["cv"]["fold_scores"],
            "chosen": [best["key"]] * 5,
            "method": "each fold scored by what the folds without its rows would have chosen",
        }
        return {
            "chosen": best["key"],
            "metric": self.main,
            "n_models": 8,
            "n_candidates": 22,
            "cv": {"mean": mean, "sd": best["cv"]["sd"]},
            "honest": honest,
            "why_not": None,
            "optimism": 0.01 * mean,
            "lead": {"over": models[1]["key"], "cv": 0.01, "honest": 0.004},
            "test": best["test"]["metrics"][self.main],
            "test_interval": best["test"]["interval"],
            "sentence": "The support vector machine was chosen.",
        }

    def comparison(self, models: list[Facts]) -> Facts:
        rows = [
            {
                "key": model["key"],
                "folds": {
                    "difference": 0.01 * rank,
                    "standard_error": 0.005,
                    "low": 0.01 * rank - 0.01,
                    "high": 0.01 * rank + 0.01,
                    "p": 0.3 / rank,
                },
                "test": {
                    "difference": 0.01 * rank,
                    "low": 0.01 * rank - 0.02,
                    "high": 0.01 * rank + 0.02,
                    "p": 0.4 / rank,
                    "method": "influence",
                },
                "p_adjusted": min(1.0, 0.5 / rank**2),
                "result": "not_distinguishable" if rank < 3 else "worse",
            }
            for rank, model in enumerate(models[1:8], 1)
        ]
        return {
            "against": models[0]["key"],
            "metric": self.main,
            "level": 0.95,
            "rows": rows,
            "not_distinguishable": [model["key"] for model in models[1:3]],
            "folds_note": "Corrected resampled t test over 5 folds (Nadeau and Bengio 2003).",
            "test_note": "McNemar's exact test on 980 test rows that no selection has used.",
            "sentence": "Two others are not distinguishable.",
        }

    def costs(self) -> Facts:
        size = len(self.classes)
        matrix = (5 * (1 - np.eye(size))).tolist()
        return {"labels": self.classes, "matrix": matrix, "reject_cost": 1.0}

    def importance(self, n_columns: int) -> Facts:
        names = [f"importance of column {place} <&>" for place in range(n_columns)]
        return {
            "model": self.key(NAMES[0]),
            "metric": self.main,
            "metric_label": "RMSE" if self.main == "rmse" else "Accuracy",
            "skipped": None,
            "n_rows": 980,
            "n_repeats": 10,
            "columns": [
                {"name": name, "value": 0.2 / (place + 1) - 0.02, "standard_error": 0.01}
                for place, name in enumerate(names)
            ],
            "timing": {"seconds": 0.5},
        }

    def surrogate(self) -> Facts:
        return {
            "model": self.key(NAMES[0]),
            "skipped": None,
            "n_leaves": 9,
            "n_fit": 3900,
            "n_rows": 980,
            "fidelity": 0.912,
            "error": 0.131,
            "model_error": 0.062,
            "curve": [],
            "tree": {**self.tree(), "model": "surrogate"},
            "timing": {"seconds": 0.5},
        }

    def learning_curve(self, best: Facts) -> Facts:
        scale = best["cv"]["mean"]
        points = []
        for share in (0.1, 0.2, 0.4, 0.7, 1.0):
            worse = 0.1 * (1 - share) * (-1 if self.main == "accuracy" else 1)
            folds = (scale * (1 + worse + 0.004 * self.random.standard_normal(5))).tolist()
            mean, sd = float(np.mean(folds)), float(np.std(folds, ddof=1))
            size = {"share": share, "n_rows": round(3120 * share)}
            points.append({**size, "fold_scores": folds, "mean": mean, "sd": sd})
        common = {"model": best["key"], "metric": self.main, "skipped": None}
        gain = {"difference": 0.01 * scale, "low": -0.01 * scale, "high": 0.03 * scale}
        return common | {
            "points": points,
            "gain": {**gain, "level": 0.95},
            "timing": {"seconds": 2.5},
        }

    def tree(self) -> Facts:
        nodes: list[Facts] = []

        def grow(parent: int | None, depth: int, rows: int) -> int:
            number = len(nodes)
            split = depth < 2 or (depth < 6 and self.random.random() < 0.7)
            shares = self.random.dirichlet(np.full(max(1, len(self.classes)), 0.3)).tolist()
            node: Facts = {
                "id": number,
                "parent": parent,
                "left": None,
                "right": None,
                "depth": depth,
                "feature": f"width of the petal at its base {number}" if split else None,
                "threshold": 12.5 * number + 0.25 if split else None,
                "missing": [None, "left", "right"][number % 3] if split else None,
                "impurity": 0.25,
                "n": rows,
                "value": shares if self.classes else [1000.0 + 400 * self.random.random()],
            }
            nodes.append(node)
            if split and depth < 5:
                node["left"] = grow(number, depth + 1, rows // 3)
                node["right"] = grow(number, depth + 1, rows - rows // 3)
            return number

        grow(None, 0, 3900)
        return {
            "model": "cart",
            "n_leaves": 61,
            "depth": 9,
            "class_labels": self.classes or None,
            "value_label": "share of each class" if self.classes else "mean of price",
            "nodes": nodes,
        }


def failed(name: str, error: str) -> Facts:
    nothing = dict.fromkeys(["note", "best", "cv", "test"])
    timing = {"fit_s": None, "predict_s": None, "search_s": 0.2}
    return nothing | {
        "key": "failed",
        "name": name,
        "engine": "scikit-learn",
        "preparation": "one-hot",
        "status": "failed",
        "error": error,
        "not_kept": None,
        "candidates": [],
        "timing": timing,
    }


@pytest.fixture(scope="session")
def check_facts() -> Callable[[Facts], None]:
    """Return a function that refuses facts that violate the schema."""
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    return validator.validate


@pytest.fixture(scope="session")
def make_facts(check_facts: Callable[[Facts], None]) -> Callable[..., Facts]:
    """Builds facts of a task: ``make_facts("multiclass", classes=LETTERS, n_columns=200)``."""

    def make(task: str, classes: list[str] | None = None, **sizes: int) -> Facts:
        usual = {"binary": ["malignant", "benign"], "multiclass": LETTERS, "regression": []}
        facts = Builder(task, usual[task] if classes is None else classes).facts(**sizes)
        check_facts(facts)
        return facts

    return make


@pytest.fixture(params=["binary", "multiclass", "regression"])
def facts(request: pytest.FixtureRequest, make_facts: Callable[..., Facts]) -> Facts:
    """Facts of each task in turn."""
    return make_facts(request.param)


@pytest.fixture(scope="session")
def users_words() -> Callable[[Facts], set[str]]:
    """Every word of the facts' own texts that is the user's, in lower case."""

    def collect(facts: Facts) -> set[str]:
        data, study = facts["data"], facts["study"]
        texts = [study["table"], study["target"], study["positive_class"] or ""]
        texts += [column["name"] for column in data["columns"]]
        texts += [value for column in data["columns"] for value, _ in column["top"] or []]
        texts += [row["label"] for row in facts["split"]["classes"] or []]
        texts += [note["text"] for note in data["notes"]]
        for step in (data["recipe"] or {"steps": []})["steps"]:
            texts += [step["condition"] or "", *step["columns"]]
            texts += [value for new, old in (step["into"] or {}).items() for value in (new, *old)]
        texts += [model["note"] or "" for model in facts["models"]]
        values = [value for row in facts["errors"]["rows"] for value in row["values"]]
        texts += [f"{value['column']} {value['value']}" for value in values]
        texts += [key for m in facts["models"] for c in m["candidates"] for key in c["params"]]
        texts += [node["feature"] or "" for node in facts["tree"]["nodes"]]
        texts += ["importance of column sex of the tree group width of the petal at its base"]
        texts += [facts["environment"]["platform"], "Baseline", "QDA"]
        texts += [column["reason"] or "" for column in data["columns"]]
        texts += [facts["tree"]["value_label"], "one-hot", "arboleda study"]
        return set(re.findall(r"[^\W\d_][\w²-]*", " ".join(texts).lower()))

    return collect
