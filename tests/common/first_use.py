"""As a script: print what the public estimators of some packages import after fitting."""

import inspect
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import arboleda

X = np.random.default_rng(0).random((60, 3))
# What draws or writes out needs packages of its own, and is not promised.
_NOT_PROMISED = ("plot", "to_frame", "save", "get_metadata_routing", "fit", "set_")


def made(name: str) -> tuple[Any, Any]:
    """An estimator and a target for it."""
    kind = getattr(arboleda, name)
    parameters = inspect.signature(kind).parameters
    given: dict[str, Any] = {"n_estimators": 3} if "n_estimators" in parameters else {}
    tree = "DecisionTreeRegressor" if name.endswith("Regressor") else "DecisionTreeClassifier"
    if "estimators" in parameters:
        given["estimators"] = [
            ("deep", getattr(arboleda, tree)()),
            ("also", getattr(arboleda, tree)()),
        ]
    if "estimator" in parameters and parameters["estimator"].default is inspect.Parameter.empty:
        given["estimator"] = getattr(arboleda, tree)()
    if name == "CostSensitiveClassifier":
        given["cost_matrix"] = [[0, 1], [2, 0]]
    if name == "RejectOptionClassifier":
        given["reject_cost"] = 0.2
    y = X[:, 0] + X[:, 1] if name.endswith("Regressor") else (X[:, 0] > 0.5).astype(int)
    return kind(**given), y


def uses(model: Any, y: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls of the public methods that take a table, and of what every object has."""
    y_of = {"X": X, "y": y, "theta": 0.0, "Y": None}
    for name, method in inspect.getmembers(type(model)):
        if name.startswith(("_", *_NOT_PROMISED)) or not callable(method):
            continue
        if not hasattr(model, name) or "X" not in inspect.signature(method).parameters:
            continue
        if name == "inverse_transform":
            continue
        given = {key: y_of[key] for key in inspect.signature(method).parameters if key in y_of}

        def call(name: str = name, given: Any = given) -> Any:
            found = getattr(model, name)(**given)
            return list(found) if inspect.isgenerator(found) else found

        yield name, call
    yield "repr", lambda: repr(model)
    yield "pickle", lambda: pickle.loads(pickle.dumps(model))
    if hasattr(model, "save"):
        folder = tempfile.mkdtemp()
        yield "save", lambda: arboleda.load(model.save(Path(folder) / "m") or Path(folder) / "m")


def main(packages: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name in arboleda.__all__:
        if arboleda._PUBLIC.get(name, "").removeprefix("arboleda.") not in packages:
            continue
        if not hasattr(getattr(arboleda, name), "fit"):
            continue
        model, y = made(name)
        before = set(sys.modules)
        model.fit(X, y)
        sys.stdout.writelines(f"! {name}.fit: {new}\n" for new in sorted(set(sys.modules) - before))
        for what, use in uses(model, y):
            before = set(sys.modules)
            try:
                use()
            except (ValueError, AttributeError, TypeError) as error:
                # Another method is needed first, or the model refuses it: its own tests cover that.
                sys.stdout.write(f"# {name}.{what}: {error}\n")
            found = {new for new in set(sys.modules) - before if new != "arboleda.persist"}
            sys.stdout.writelines(f"! {name}.{what}: {new}\n" for new in sorted(found))
        sys.stdout.write(f"{name} done\n")


if __name__ == "__main__":
    main(sys.argv[1:])
