"""Ways to damage a study's folder, and everything that reads one."""

import copy
import hashlib
import json
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arboleda.study import Study, StudyError, compare, explain
from arboleda.study.artifacts.exports import export
from arboleda.study.results.predict_file import predict

HUGE = 10**400
# What stands in place of a value: each is wrong for most of them.
STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 7, 10**30, HUGE, 0.5, -2.5, float("nan"), float("inf"), "", "unheard_of",
    [], {}, [None], {"a": None},
)  # fmt: skip


def small_table(n: int = 90) -> pd.DataFrame:
    """Numbers with gaps, a category, truth values, dates, two classes and a quantity."""
    draw = np.random.default_rng(0)
    age = draw.integers(18, 90, n).astype(float)
    city = draw.choice(["Rome", "Oslo", "Lima"], n)
    wealth = draw.lognormal(2, 1, n).round(2)
    rich = (age / 30 + np.log(wealth) + (city == "Oslo") + draw.normal(size=n)) > 4.3
    frame = pd.DataFrame(
        {
            "age": age,
            "city": city,
            "wealth": wealth,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, n), "D"),
            "member": draw.choice([True, False], n),
            "rich": np.where(rich, "yes", "no"),
        }
    )
    frame.loc[draw.choice(n, 9, replace=False), "age"] = np.nan
    frame.loc[draw.choice(n, 6, replace=False), "city"] = None
    return frame


def run_study(folder: Path, target: str, **settings: Any) -> None:
    """A small study of four models, with what combines them."""
    single = "lda,cart,neighbours" if target == "rich" else "ridge,cart,neighbours"
    options = {"models": f"{single},random_forest", "cv": 3, "n_jobs": 1, **settings}
    Study(small_table(), target=target, output_dir=folder, **options).run()


def replacements(value: Any) -> Iterator[tuple[tuple[Any, ...], str, Any]]:
    """Return every place in a JSON value, with its damage: a word, and a new value."""
    for place, found in _places(value, ()):
        if place:
            yield place, "remove", None
        for strange in STRANGE:
            yield place, "replace", strange
        if isinstance(found, list) and found:
            yield place, "replace", found[:-1]
            yield place, "replace", [*found, found[0]]
        if isinstance(found, dict):
            yield place, "replace", {**found, "unheard_of": None}
        if isinstance(found, str):
            yield place, "replace", f"{found}x"
            yield place, "replace", "\ud800"


def _places(value: Any, at: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield at, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*at, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _places(inner, (*at, place))


def replaced(value: Any, place: tuple[Any, ...], what: str, new: Any) -> Any:
    """The value with another one at a place, or with nothing there."""
    if not place:
        return new
    found = copy.deepcopy(value)
    inner = found
    for step in place[:-1]:
        inner = inner[step]
    if what == "remove":
        del inner[place[-1]]
    else:
        inner[place[-1]] = new
    return found


def write_json(path: Path, value: Any) -> None:
    """As a careless program writes it: with NaN, and halves of signs as escapes."""
    path.write_text(json.dumps(value), encoding="utf-8")


def mend_sum(folder: Path, name: str) -> None:
    """Give a file of a study's models, whatever it holds now, its sum in the list."""
    index = folder / "models" / "index.json"
    stored = json.loads(index.read_text("utf-8"))
    content = (folder / "models" / name).read_bytes()
    entry = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    for files in [*stored["models"].values(), stored["rows"], stored["held_out"]]:
        if name in files:
            files[name] = entry
    write_json(index, stored)


class Reader:
    """Everything that reads a study, part by part, with the errors of each part."""

    def __init__(self, folder: Path, other: Path, out: Path) -> None:
        self.folder, self.other, self.out = folder, other, out
        self.table = small_table(12)

    def acts(self) -> dict[str, Callable[[], Any]]:
        """The parts, the quick ones first."""
        return {
            "models": self._models,
            "predict": lambda: predict(
                self.folder, self.table, self.out / "predicted.csv", intervals=0.8
            ),
            "export": lambda: export(self.folder, self.out / "model.onnx"),
            "compare": lambda: compare([self.folder, self.other]).to_html(),
            "row": lambda: explain(self.folder, 3).to_html(),
            "explain": lambda: explain(self.folder).to_html(),
        }

    def _models(self) -> None:
        study = Study.load(self.folder)
        for key in study.keys:
            study.model(key).predict(self.table)

    def errors(self, names: tuple[str, ...] = ()) -> dict[str, Exception]:
        """What the parts raise, those of these names or all; what all of them share once."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of another scikit-learn
            error = raised(lambda: Study.load(self.folder))
            if error is not None:
                return {"load": error}
            acts = {name: act for name, act in self.acts().items() if not names or name in names}
            found = {name: raised(act) for name, act in acts.items()}
        return {name: error for name, error in found.items() if error is not None}


def is_one_sentence(error: Exception) -> bool:
    """Whether an error is a study's own and is one sentence."""
    text = str(error)
    return isinstance(error, StudyError) and "\n" not in text and len(text) > 20


def raised(act: Callable[[], Any]) -> Exception | None:
    """Return the error of a call, if any."""
    try:
        act()
    except Exception as error:  # noqa: BLE001 - what is raised is what is looked at
        return error
    return None


def copy_study(source: Path, target: Path) -> Path:
    """A folder to damage."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(source, target))
