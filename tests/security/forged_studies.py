"""Forged models of a study: each part of each object changed in turn, then read and used.

    python -m tests.security.forged_studies COUNT [SEED]

Every class that has rules has a specimen. Each of its attributes is replaced by values that it must
not have, some in pairs; the model is written as a forger would write it, read, and predicts. This
happens in processes of their own, so that a crash is seen. Printed is how often each end came, as
JSON; the exit code is 1 if one was a crash, a hang, a want of memory or an unexpected error.
"""

import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from skops.io import dumps
from tests.study.conftest import make_mixed

from arboleda import DESP, KNORAE, KNORAU, LCA, MCB, METADES, OLA, RRC
from arboleda.catalogue import ALL, kernels
from arboleda.catalogue.entries import PORTFOLIO_WORD
from arboleda.catalogue.preparation import make_preparation
from arboleda.features.cross_search import CrossedColumns
from arboleda.persist.object_rules import RULES, iterate_objects
from arboleda.persist.skops_file import deserialize_estimators
from arboleda.study.artifacts.model_files import _make_pipeline, _unpack_parts, _WithoutTrees
from arboleda.study.config.settings import Settings
from arboleda.study.plan import Plan, make_plan
from arboleda.tables.reading import read_table

# So long may a model take to be read and used, and so much memory may the process take.
SECONDS, BYTES = 30, 6 * 2**30
BAD = ("crash", "memory", "unexpected error")
# For each target models that together hold objects of nearly every class.
CHOSEN = {
    "rich": (
        *("bayesian_network", "rda", "best_svm", "schapire_boosting", "shrunken_centroids", "jmi"),
        *("most_frequent", "ridge", "mixed_naive_bayes", "qda", "diagonal_lda", "kernel_density"),
        *("mrmr", "forest_selected", "forward_selected", "backward_selected", "neighbours"),
        *("principal_components", "lda", "logistic", "best_neighbours"),
    ),
    "third": ("dynamic_selection", "best_svm", "svm", "network", "bayesian_network", "qda"),
    "wealth": (
        *("mean", "lasso", "elastic_net", "svm", "kernel_ridge", "best_ranked_linear"),
        *("dynamic_selection", "best_neighbours", "linear"),
    ),
}
# Those that are tried behind their preparation; those of the others are like these.
WITH_PREPARATION = ("logistic", "linear", "best_ranked_linear", "network")


@dataclass(frozen=True)
class Specimen:
    """A preparation and a model, and rows that they take."""

    name: str
    parts: list[Any]
    rows: Any


def make_specimens() -> list[Specimen]:
    """Small fitted models with objects of every class that has rules."""
    found = [_made_columns(), *_methods_of_selection(), *_regression_of_times()]
    table = make_mixed(120).drop(columns=["id", "same", "comment", "since"])
    draw = np.random.default_rng(0)
    table = table.assign(street=draw.choice([f"street {i}" for i in range(40)], len(table)))
    thirds = np.select([table["wealth"] < 5, table["wealth"] < 12], ["a", "b"], "c")
    for target, keys in CHOSEN.items():
        own = table.assign(third=thirds) if target == "third" else table
        left_out = {"rich": [], "third": ["rich", "wealth"], "wealth": ["rich"]}
        own = own.drop(columns=left_out[target])
        plan = make_plan(read_table(own), target, Settings(models=(ALL, PORTFOLIO_WORD)))
        found += _fitted(plan, target, keys)
        usual = kernels._count_svm_landmarks
        try:
            kernels._count_svm_landmarks = lambda setting: 8
            found += _fitted(plan, f"sampled {target}", ("svm",))
        finally:
            kernels._count_svm_landmarks = usual
    preparation = make_preparation(plan.features, "native", "regression", 0)
    x = preparation.fit_transform(plan.features.x, plan.target.y)
    last = DummyRegressor().fit(x, plan.target.y)
    return [*found, Specimen("native", [preparation, last], _rows(plan))]


def _fitted(plan: Plan, target: str, keys: tuple[str, ...]) -> Iterator[Specimen]:
    for model in plan.models:
        if model.key in keys:
            pipeline = plan.test_job(model, plan.candidates(model)[0]).pipeline
            pipeline.fit(plan.features.x, plan.target.y)
            parts = [pipeline["preparation"], pipeline["model"]]
            rows = _rows(plan)
            if parts[0] == "passthrough":
                parts[0] = None
            elif model.key not in WITH_PREPARATION:
                parts[0], rows = None, parts[0].transform(rows)
            yield Specimen(f"{target} {model.key}", parts, rows)


def _regression_of_times() -> Iterator[Specimen]:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"age": draw.normal(60, 10, 80), "arm": draw.choice(["a", "b"], 80)})
    frame["days"] = draw.exponential(100, 80).round() + 1.0
    frame["died"] = draw.random(80) < 0.7
    settings = Settings(models=("kaplan_meier", "cox"), time="days", event="died")
    return _fitted(make_plan(read_table(frame), "days", settings), "days", ("cox",))


def _rows(plan: Plan) -> Any:
    """Rows with missing numbers and categories, and with levels that are not known."""
    rows = plan.features.x[:12].copy()
    rows[10, list(plan.features.numeric)] = np.nan
    rows[11, list(plan.features.categorical)] = -1.0
    return rows


def _made_columns() -> Specimen:
    draw = np.random.default_rng(0)
    x = np.column_stack([draw.lognormal(0, 1, (500, 2)), draw.integers(0, 9, 500)])
    level = draw.normal(size=9)
    y = np.log(x[:, 0] / x[:, 1]) + 3 * level[x[:, 2].astype(int)]
    columns = CrossedColumns(("price", "size", "kind"), (2,), "regression")
    filled = Pipeline([("fill", SimpleImputer()), ("linear", LinearRegression())])
    return Specimen("crossed", [columns, filled.fit(columns.fit_transform(x, y), y)], x[:12])


def _methods_of_selection() -> Iterator[Specimen]:
    """Dynamic selection under the methods' own names."""
    X, y = make_blobs(60, centers=3, cluster_std=3.0, random_state=0)
    members = [("bayes", GaussianNB()), ("logistic", LogisticRegression())]
    for kind in (DESP, KNORAE, KNORAU, LCA, MCB, METADES, OLA, RRC):
        yield Specimen(kind.__name__, [None, kind(members).fit(X, y)], X[:12])


@dataclass(frozen=True)
class Site:
    """A place of an object in a model."""

    name: str
    value: Any
    put: Callable[[Any], Any]
    others: tuple[Any, ...]
    is_key: bool = False


def find_sites(parts: list[Any]) -> list[Site]:
    """All places of a model, each object's once."""
    return list(_sites(parts, "", lambda _: None, set()))


def _sites(value: Any, name: str, put: Callable[[Any], Any], seen: set[int]) -> Iterator[Site]:
    if isinstance(value, tuple):
        for i in range(len(value)):

            def put_entry(new: Any, i: int = i) -> None:
                put((*value[:i], new, *value[i + 1 :]))

            yield Site(f"{name}[{i}]", value[i], put_entry, value)
            yield from _sites(value[i], f"{name}[{i}]", put_entry, seen)
        return
    if isinstance(value, list):
        holder: Any = value
        # Of long lists the first entries and the last: the others are like them.
        keys: list[Any] = sorted({0, 1, len(value) - 1} & set(range(len(value))))
        prefix = "[{}]"
    elif isinstance(value, dict):
        holder, keys, prefix = value, list(value)[:3], "[{}]"
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        holder, keys, prefix = vars(value), list(vars(value)), f"<{type(value).__name__}>.{{}}"
    else:
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    everything = tuple(holder[key] for key in keys)
    for key in keys:

        def put_item(new: Any, holder: Any = holder, key: Any = key) -> None:
            holder[key] = new

        own = name + prefix.format(key)
        yield Site(own, holder[key], put_item, everything, holder is not value)
        yield from _sites(holder[key], own, put_item, seen)


_NUMBERS = (-1, 0, 1, 2, 3, 7, 255, 10**6, 2**31 - 1, 2**31, -(2**31), 2**63, 10**40)
_FLOATS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1e308, 5e-324)
_TEXTS = ("", "precomputed", "brute", "ball_tree", "nu_svr", "linear", "drop", "passthrough")
_DTYPES = ("f4", "i8", "i4", "i1", "u8", "?", "U8", ">f8", "c16", "f2", "V8")


def changes(value: Any, others: tuple[Any, ...]) -> list[tuple[str, Any]]:
    """Return the replacements of a value, with descriptions."""
    found: list[tuple[str, Any]] = [("None", None), ("a list", []), ("an array", np.zeros((2, 3)))]
    if isinstance(value, np.ndarray):
        found += _changed_arrays(value)
        found += [("swapped", o) for o in others if isinstance(o, np.ndarray) and o is not value]
        return found
    found += [(f"number {n!r}", n) for n in (*_NUMBERS, *_FLOATS)] + [("True", True)]
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return found + [(f"plus {n}", int(value) + n) for n in (-2, -1, 1, 2, 1000)]
    if isinstance(value, str) or value is None:
        found += [(f"text {t!r}", t) for t in _TEXTS]
        return found + [(f"text {o!r}", o) for o in others if isinstance(o, str) and o != value]
    if isinstance(value, list | tuple) and len(value):
        kind = type(value)
        found += [("reversed", value[::-1]), ("without the last", value[:-1])]
        found += [("once more", value + value[-1:]), ("twice", value * 2), ("empty", kind())]
    if isinstance(value, np.random.RandomState):
        for place in (-1, 625, 10**6, -(2**31)):
            state = np.random.RandomState(0).get_state(legacy=False)
            state["state"]["pos"] = place
            other = np.random.RandomState()
            other.set_state(state)
            found.append((f"a state at {place}", other))
    if hasattr(value, "__dict__"):
        found += [("another object", o) for o in others if hasattr(o, "__dict__")]
    return found


def _changed_arrays(value: Any) -> Iterator[tuple[str, Any]]:
    for dtype in _DTYPES:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield f"as {dtype}", value.astype(dtype)
            except (TypeError, ValueError):
                continue
    shapes: dict[str, Any] = {
        "flat": value.ravel(),
        "with an axis more": value[None],
        "transposed": value.T.copy(),
        "empty": value[:0],
        "without the last": value[:-1],
        "with one more": np.concatenate([value, value[-1:]]),
        "long": np.resize(value, (10**6, *value.shape[1:])) if value.ndim == 1 else value[:1],
        "reversed": value[::-1].copy(),
        "in the order of columns": np.asfortranarray(value),
        "zeros": np.zeros_like(value),
        "a scalar": np.zeros((), value.dtype),
        "a list": value.tolist(),
        "of objects": value.astype(object),
    }
    if value.ndim > 1:
        shapes["a column less"] = value[:, :-1].copy()
        shapes["a column more"] = np.concatenate([value, value[:, -1:]], axis=1)
    yield from shapes.items()
    numbers: tuple[Any, ...] = _NUMBERS if value.dtype.kind in "iu" else _FLOATS
    for number in numbers if value.dtype.kind in "iuf" and value.size else ():
        for place in {0, value.size - 1}:
            changed = value.copy()
            try:
                changed.flat[place] = number
            except (OverflowError, ValueError):
                continue
            yield f"{number} at {place}", changed
        if number in (-1, 10**6, 2**31 - 1) or number != number:
            yield f"all {number}", np.full_like(value, number)


def use(content: bytes, rows: Any) -> str:
    """Read a model as a study does, and predict; return how that ended."""
    try:
        model = _make_pipeline(*_unpack_parts(deserialize_estimators(content)))
    except (TypeError, ValueError):
        return "refused"
    try:
        model.predict(rows)
        if hasattr(model, "predict_proba"):
            model.predict_proba(rows)
        if is_classifier(model) and hasattr(model, "decision_function"):
            model.decision_function(rows)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - what it may be is what is counted
        return f"error of the prediction: {type(error).__name__}"
    return "predicted"


def work(start: int, stop: int, seed: int, journal: Path) -> None:
    """Try forged models with these numbers, and note each before and after."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    specimens = make_specimens()
    lacking = RULES.keys() - {_mark_up_name(o) for s in specimens for o in iterate_objects(s.parts)}
    if lacking:
        raise AssertionError(f"no specimen holds a {', '.join(sorted(lacking))}")
    for specimen in specimens:
        _WithoutTrees(specimen.parts).__enter__()
        if use(dumps(specimen.parts), specimen.rows) != "predicted":
            raise AssertionError(f"the specimen {specimen.name} does not predict")
    every = [(s, site) for s in specimens for site in find_sites(s.parts)]
    order = np.random.default_rng(seed).permutation(len(every))
    with journal.open("a", buffering=1) as file:
        for i in range(start, stop):
            draw = np.random.default_rng([seed, i])
            specimen, site = every[order[i % len(every)]]
            sites = [site]
            if i % 4 == 3:
                near = [other for s, other in every if s is specimen]
                sites.append(near[draw.integers(len(near))])
            _try_one(i, specimen, sites, draw, file)


def _try_one(i: int, specimen: Specimen, sites: list[Site], draw: Any, file: Any) -> None:
    texts = []
    try:
        for site in sites:
            possible = changes(site.value, site.others)
            text, value = possible[draw.integers(len(possible))]
            texts.append(f"{site.name}: {text}")
            site.put(value)
        # The model as its file would be: where two changes meet the second one holds.
        try:
            content = dumps(specimen.parts)
        except Exception:  # noqa: BLE001 - skops cannot write it: no file is like it
            content = None
    finally:
        for site in reversed(sites):
            site.put(site.value)
    file.write(json.dumps([i, specimen.name, texts]) + "\n")
    if content is None:
        end = "not written"
    else:
        signal.alarm(SECONDS)
        try:
            end = use(content, specimen.rows)
        except MemoryError:
            end = "memory"
        except Exception as error:  # noqa: BLE001 - counted as bad
            end = f"unexpected error: {type(error).__name__}: {error}"
        signal.alarm(0)
    file.write(json.dumps([i, end]) + "\n")


def _mark_up_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def fuzz(count: int, seed: int = 0, before: tuple[str, ...] = ()) -> tuple[Counter[str], list[Any]]:
    """How often each end came, and what was tried where it was a bad one.

    Parameters
    ----------
    count, seed : int
    before : tuple of str
        Words before the command of the processes, as of a memory checker.
    """
    ends: Counter[str] = Counter()
    bad: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        journal, at = Path(folder) / "journal", 0
        while at < count:
            journal.write_text("")
            words = ["-m", "tests.security.forged_studies", "--work", str(at), str(count)]
            done = subprocess.run(
                [*before, sys.executable, *words, str(seed), str(journal)], check=False
            )
            notes = [json.loads(line) for line in journal.read_text().splitlines()]
            tried = {note[0]: note[1:] for note in notes if len(note) == 3}
            ended = {
                note[0]: note[1] for note in notes if isinstance(note, list) and len(note) == 2
            }
            for i, end in ended.items():
                ends[end.split(": ")[0] if end.startswith("unexpected") else end] += 1
                if end.startswith(BAD):
                    bad.append([end, *tried[i]])
            unfinished = tried.keys() - ended.keys()
            if done.returncode and not unfinished:
                raise AssertionError(f"the worker failed with {done.returncode}")
            for i in unfinished:
                ends["crash"] += 1
                bad.append([f"crash: {done.returncode}", *tried[i]])
            at = max(tried) + 1
    return ends, bad


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        faulthandler.enable()
        first, last, its_seed, path = sys.argv[2:]
        work(int(first), int(last), int(its_seed), Path(path))
    else:
        words = os.environ.get("FORGED_STUDIES_BEFORE", "").split()
        counts, found = fuzz(*(int(word) for word in sys.argv[1:3]), before=tuple(words))
        result = {"ends": dict(counts.most_common()), "bad": found}
        sys.stdout.write(json.dumps(result, indent=1) + "\n")
        sys.exit(bool(found))
