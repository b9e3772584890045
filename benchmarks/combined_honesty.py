"""Is the cross-validated score of a combined model as honest as a single model's?

    python benchmarks/combined_honesty.py [--seeds 10] [--out FILE]

Studies small tables with many seeds and takes, for every model, the cross-validated score less the
score on the test rows: the score's optimism, in the metric's units; above 0 flatters. Members are
fitted to fewer rows in a fold than for the test, so that a little pessimism is expected of all. A
combination that had learned its weights from the rows it is scored on would stand out.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from arboleda.study import Study

CLASSES = "cart,naive_bayes,lda,logistic,neighbours,svm"
VALUES = "cart,ridge,neighbours,svm,lasso"
METRICS = {"classification": ("accuracy", "log_loss"), "regression": ("rmse", "r2")}


def tables() -> dict[str, pd.DataFrame]:
    """Small tables; of the larger ones a part, where there is most to learn by heart."""
    loaded = {
        "breast_cancer": load_breast_cancer,
        "diabetes": load_diabetes,
        "digits": load_digits,
        "iris": load_iris,
        "wine": load_wine,
    }
    found = {name: load(as_frame=True).frame for name, load in loaded.items()}
    return {k: frame.sample(min(len(frame), 300), random_state=0) for k, frame in found.items()}


def main() -> None:
    """Run the studies and print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    gaps: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for seed in range(args.seeds):
        for name, frame in tables().items():
            with tempfile.TemporaryDirectory() as folder:
                values = name == "diabetes"
                study = Study(
                    frame,
                    target="target",
                    task="regression" if values else "classification",
                    models=VALUES if values else CLASSES,
                    seed=seed,
                    jobs=1,
                    out=folder,
                )
                facts = study.run().facts
            for model in facts["models"]:
                kind = "combined" if model["ensemble"] else "single"
                for metric in METRICS["regression" if values else "classification"]:
                    cv = model["cv"]["metrics"][metric]["mean"]
                    test = model["test"]["metrics"].get(metric)
                    if cv is None or test is None:
                        continue
                    sign = -1.0 if metric in ("log_loss", "rmse") else 1.0
                    gaps[(metric, f"{kind}: {model['name']}")].append((name, sign * (cv - test)))
            print(f"{name} {seed}", flush=True)
            if args.out:
                rows = [[*key, table, gap] for key, found in gaps.items() for table, gap in found]
                args.out.write_text(json.dumps(rows))
    for (metric, name), found in sorted(gaps.items()):
        values_ = np.array([gap for _, gap in found])
        error = values_.std(ddof=1) / np.sqrt(len(values_))
        print(f"{metric:10} {name:45} {values_.mean():+.4f} +- {error:.4f}  ({len(values_)})")


if __name__ == "__main__":
    main()
