"""Metrics that a user has written in Python: ``module:function``, or a function.

A function takes the true and the predicted values of some rows and returns a number. It declares by
attributes whether greater is better, and whether it takes probabilities:

    def profit(y_true, y_pred):
        return float((y_pred[y_true == "yes"] == "yes").sum())

    profit.greater_is_better = True

Code is loaded only when the user names it in a study, never when a study's folder is read.
"""

import hashlib
import inspect
import math
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import joblib
import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import OptionError

__all__ = ["MetricFunction", "is_function_name", "load_function", "make_metric_function"]

Floats = npt.NDArray[np.float64]
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")
# As classes that are numbers are written; 007 is text.
_INTEGER = re.compile(r"0|-?[1-9]\d{0,15}")
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?")
_NEEDS = ("predictions", "probabilities")


class MetricFunction:
    """A metric that is a Python function, for ``Study(metric=...)``.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)`` returns a number. Classes are given as in the table: text, or
        numbers if all labels are numbers.
    greater_is_better : bool, optional
        By default, the function's attribute of this name, which must then exist.
    needs : {"predictions", "probabilities"}, optional
        With "probabilities", ``y_pred`` holds probabilities instead of classes: with two classes
        those of the positive class, otherwise one column for each class in sorted order. By
        default, the function's attribute ``needs``, or "predictions".
    name : str, optional
        By default ``module:function``.

    Raises
    ------
    OptionError
        If the function is not callable with two arguments, or its direction is not declared.

    Examples
    --------
    >>> from sklearn.metrics import max_error
    >>> metric = MetricFunction(max_error, greater_is_better=False)
    >>> metric.text, metric.label
    ('sklearn.metrics._regression:max_error', 'max error')
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        greater_is_better: bool | None = None,
        needs: str | None = None,
        name: str | None = None,
    ) -> None:
        own = getattr(function, "__name__", type(function).__name__)
        self.function = function
        self.text = name or f"{getattr(function, '__module__', None) or '__main__'}:{own}"
        self.label = self.text.rpartition(":")[2].replace("_", " ")
        if greater_is_better is None:
            greater_is_better = getattr(function, "greater_is_better", None)
        self.needs = needs or getattr(function, "needs", "predictions")
        _check_function(self.text, function, greater_is_better, self.needs)
        self.greater_is_better = bool(greater_is_better)
        self.source_sha256 = _hash_source(function)

    @property
    def needs_probabilities(self) -> bool:
        """Whether the function takes probabilities."""
        return self.needs == "probabilities"

    def __call__(
        self,
        y: npt.NDArray[Any],
        predicted: npt.NDArray[Any],
        score: Floats | None,
        labels: tuple[str, ...],
    ) -> float | None:
        """Compute the metric; ``y`` and ``predicted`` hold numbers of classes, or values."""
        if labels:
            names = _restore_labels(labels)
            y, predicted = names[y], names[np.asarray(predicted, dtype=np.int64)]
        outputs: npt.NDArray[Any] = predicted
        if self.needs_probabilities:
            assert score is not None
            outputs = score[:, 1] if score.shape[1] == 2 else score
        return self._read_value(self.function(y, outputs))

    def _read_value(self, value: Any) -> float | None:
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            kind = type(value).__name__
            raise TypeError(f"{self.text} must return a number, got {kind}") from error
        return number if math.isfinite(number) else None

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker process has neither the main module nor functions that were made in one.
        state = {key: value for key, value in self.__dict__.items() if key != "function"}
        return _restore, (cloudpickle.dumps(self.function), state)


def _restore(function: bytes, state: dict[str, Any]) -> MetricFunction:
    metric = MetricFunction.__new__(MetricFunction)
    metric.__dict__.update(state, function=cloudpickle.loads(function))
    return metric


def is_function_name(text: str) -> bool:
    """Return whether a text has the form ``module:function``."""
    return _NAME.fullmatch(text) is not None


def make_metric_function(value: Any) -> MetricFunction:
    """Return a metric from a function, or the metric itself."""
    return value if isinstance(value, MetricFunction) else MetricFunction(value)


def load_function(name: str) -> MetricFunction:
    """Load ``module:function`` from the current folder or an installed package.

    A module of the current folder is read afresh each time, and its folder is added to the end of
    ``sys.path``, so that it can import its neighbours.

    Raises
    ------
    OptionError
        If there is no such module or function, or the module cannot be loaded.
    """
    module_name, _, own = name.partition(":")
    path = Path(*module_name.split(".")).with_suffix(".py")
    try:
        module = _execute(module_name, path) if path.is_file() else import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and not f"{module_name}.".startswith(f"{error.name}."):
            raise OptionError(
                f"The module {module_name} of the metric {name} needs {error.name}, which is not "
                "installed."
            ) from error
        raise OptionError(
            f"There is no module {module_name} for the metric {name}; put the file {path} into the "
            "current folder, or install the package."
        ) from error
    except Exception as error:
        raise OptionError(
            f"The module {module_name} of the metric {name} cannot be loaded "
            f"({type(error).__name__}: {error})."
        ) from error
    function = getattr(module, own, None)
    if function is None:
        raise OptionError(
            f"The module {module_name} has no function {own}; it has {_list_functions(module)}."
        )
    if isinstance(function, MetricFunction):
        return MetricFunction(
            function.function,
            greater_is_better=function.greater_is_better,
            needs=function.needs,
            name=name,
        )
    return MetricFunction(function, name=name)


def _execute(name: str, path: Path) -> ModuleType:
    """Execute a module of the current folder."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    source = path.read_bytes()
    module = ModuleType(name)
    module.__file__, module.__package__ = str(path.absolute()), name.rpartition(".")[0]
    former = sys.modules.get(name)
    sys.modules[name] = module  # where dataclasses look for it
    try:
        exec(compile(source, module.__file__, "exec"), module.__dict__)
    finally:
        # Workers receive functions of a module that is not listed by value.
        del sys.modules[name]
        if former is not None:
            sys.modules[name] = former
    module.__dict__["__source_sha256__"] = hashlib.sha256(source).hexdigest()
    return module


def _list_functions(module: ModuleType) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__
    ]
    return ", ".join(names[:8]) or "none"


def _check_function(text: str, function: Any, greater_is_better: Any, needs: Any) -> None:
    if not callable(function):
        raise OptionError(f"The metric {text} must be a function, got {type(function).__name__}.")
    if hasattr(function, "_score_func"):
        raise OptionError(
            f"The metric {text} is a scorer of scikit-learn; pass its function, as in "
            "MetricFunction(function, greater_is_better=True)."
        )
    try:
        inspect.signature(function).bind(None, None)
    except TypeError as error:
        raise OptionError(
            f"The metric {text} must take two arguments, y_true and y_pred ({error})."
        ) from error
    except ValueError:
        pass  # a built-in function has no signature
    if not isinstance(greater_is_better, (bool, np.bool_)):
        raise OptionError(
            f"The metric {text} does not declare its direction; write "
            f"{text.rpartition(':')[2]}.greater_is_better = True (or False) below the function."
        )
    if needs not in _NEEDS:
        raise OptionError(
            f"The metric {text} needs {needs!r}; its attribute needs must be 'predictions' or "
            "'probabilities'."
        )


def _hash_source(function: Any) -> str:
    """Return a hash of what determines the function's values, as far as it can be read.

    It is the source of the whole file for a module of the current folder, otherwise that of the
    function; and the values that it has as defaults or from the function around it.
    """
    space = getattr(function, "__globals__", {})
    digest = hashlib.sha256()
    known = space.get("__source_sha256__")
    if known is not None:
        digest.update(known.encode())
    else:
        try:
            digest.update(inspect.getsource(function).encode())
        except (OSError, TypeError):
            code = getattr(function, "__code__", None)
            parts = [function] if code is None else [code.co_code, code.co_consts, code.co_names]
            digest.update(repr(parts).encode())
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    kept = (getattr(function, "__defaults__", None), cells)
    try:
        digest.update(joblib.hash(kept).encode())
    except Exception:  # noqa: BLE001 - values of any kind, which may not be picklable
        digest.update(repr([type(value).__name__ for value in cells]).encode())
    return digest.hexdigest()


def _restore_labels(labels: tuple[str, ...]) -> npt.NDArray[Any]:
    """Return the classes as Booleans or numbers if they are written so, otherwise as text."""
    if set(labels) <= {"false", "true"}:
        return np.array([label == "true" for label in labels])
    if all(_INTEGER.fullmatch(label) for label in labels):
        return np.array([int(label) for label in labels])
    if all(_DECIMAL.fullmatch(label) for label in labels):
        return np.array([float(label) for label in labels])
    return np.array(labels, dtype=object)
