"""Rank the configurations of preset "best" by a greedy selection over many tables.

    python benchmarks/portfolio.py [--rows 2000] [--tables adult,ijcnn1] [--out FILE]

Every configuration is cross-validated on every table of the quality study and on bundled ones, on
at most `--rows` rows each. Configurations are then selected one by one: each step adds the one that
gives the ensemble of the selected ones (greedy selection and a temperature, cross-fitted over the
folds) the smallest loss, relative to the ensemble of all, averaged over the tables. The order is
that of `arboleda.catalogue.portfolio`; docs/decisions/portfolio.md has the result.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.metrics import log_loss

sys.path.insert(0, str(Path(__file__).parent / "quality"))

from arboleda.combine import MemberOutputs
from arboleda.study import Study
from arboleda.study.combination.cross_fitting import cross_fit
from arboleda.study.combination.methods import METHODS
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    PredictionRequest,
    load_member_outputs,
    predictions_path,
)
from arboleda.study.plan import Plan, make_plan
from arboleda.study.search.strategies import Trial
from arboleda.tables.reading import read_table
from tables import TABLES

BUNDLED = {
    "breast_cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "digits": load_digits,
    "wine": load_wine,
}
GREEDY = next(method.fit for method in METHODS if method.key == "greedy_selection")


def iter_frames(wanted: list[str], n_rows: int) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield the name, the task and a data frame with the column "target" for each table."""
    for name in wanted:
        if name in BUNDLED:
            frame = BUNDLED[name](as_frame=True).frame
            task = "regression" if name == "diabetes" else "classification"
        else:
            problem = TABLES[name]()
            task = "regression" if problem.task == "regression" else "classification"
            frame = problem.frame.assign(target=problem.target)
        yield name, task, frame.sample(min(n_rows, len(frame)), random_state=0)


def load_fold_predictions(
    plan: Plan, folder: Path, chosen_params: dict[str, dict[str, Any]]
) -> tuple[list[MemberOutputs], MemberOutputs]:
    """Load the configurations' predictions for each fold, and for all folds together.

    ``chosen_params``: the parameters that each configuration was kept with, by its key.
    """
    chosen = [model for model in plan.models if model.key in chosen_params]
    jobs = [plan.trial_jobs(model, Trial(chosen_params[model.key])) for model in chosen]
    requests = [
        PredictionRequest(
            fold[0].score_rows,
            tuple(
                predictions_path(folder / PREDICTIONS_DIR, j.model, j.params, j.entry) for j in fold
            ),
        )
        for fold in zip(*jobs, strict=True)
    ]
    names = [model.key for model in chosen]
    found = [
        load_member_outputs(names, some, len(plan.target.y), plan.target.labels)
        for some in [*([one] for one in requests), requests]
    ]
    assert all(part is not None for part in found)
    return found[:-1], found[-1]


def compute_ensemble_loss(
    plan: Plan, parts: list[MemberOutputs], whole: MemberOutputs, keys: list[str]
) -> float:
    """Return the cross-fitted loss of the ensemble of some configurations."""
    places = [whole.names.index(key) for key in keys]
    some = [
        MemberOutputs(keys, o.outputs[places], o.classes, o.rows, o.n_table_rows)
        for o in (*parts, whole)
    ]
    predictions = cross_fit(GREEDY, some[:-1], some[-1], plan.target.y, 0).predictions
    rows = np.concatenate([part.rows for part in parts])
    y, predictions = plan.target.y[rows], np.concatenate(predictions)
    if predictions.ndim == 1:
        return float(np.sqrt(np.mean((y - predictions) ** 2)))
    return float(log_loss(y, predictions, labels=range(predictions.shape[1])))


def main() -> None:
    """Cross-validate the configurations, select them greedily, and print the order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--tables", default=",".join([*BUNDLED, *TABLES]))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found, seconds = {}, {}
    with tempfile.TemporaryDirectory() as home:
        for name, task, frame in iter_frames(args.tables.split(","), args.rows):
            started = time.monotonic()
            metric = "rmse" if task == "regression" else "log_loss"
            folder = Path(home) / name
            study = Study(
                frame,
                target="target",
                task=task,
                preset="best",
                metric=metric,
                output_dir=folder,
                n_jobs=1,
            )
            facts = study.run().facts
            plan = make_plan(read_table(frame), "target", study.settings)
            chosen_params = {
                model["key"]: model["candidates"][model["best"]]["params"]
                for model in facts["models"]
                if model["status"] == "ok" and not model["ensemble"]
            }
            found[name] = (plan, *load_fold_predictions(plan, folder, chosen_params))
            for model in facts["models"]:
                seconds.setdefault(model["key"], []).append(model["timing"]["search_s"])
            print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    usable = set.intersection(*(set(whole.names) for _, _, whole in found.values()))
    whole_loss = {
        name: compute_ensemble_loss(*each, sorted(usable)) for name, each in found.items()
    }
    taken: list[str] = []
    rows = []
    while len(taken) < len(usable):
        ratios = {
            key: {
                n: compute_ensemble_loss(*each, [*taken, key]) / whole_loss[n]
                for n, each in found.items()
            }
            for key in sorted(usable - set(taken))
        }
        best = min(ratios, key=lambda key: float(np.mean(list(ratios[key].values()))))
        taken.append(best)
        rows.append([best, float(np.mean(list(ratios[best].values()))), ratios[best]])
        share, cost = rows[-1][1], float(np.mean(seconds[best]))
        print(f"{len(taken):2} {best:22} {share:.4f} of the loss of all, {cost:.1f} s", flush=True)
        if args.out:
            args.out.write_text(json.dumps({"order": rows, "whole": whole_loss}, indent=1))


if __name__ == "__main__":
    main()
