"""Names that other libraries, or earlier versions, have for the options of a study.

A test compares them with the tables of the guide, docs/guide/coming_from.md.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

__all__ = ["OTHER_NAMES", "RETIRED", "find_name", "name_study_arguments", "name_study_parameters"]

# Former names of parameters, and the names that replaced them.
RETIRED = {
    "out": "output_dir",
    "jobs": "n_jobs",
    "seed": "random_state",
    "by": "score_by",
    "member_time": "fit_timeout",
    "member_memory": "fit_memory",
}
# Names in AutoGluon, mljar-supervised, FLAML and scikit-learn, and the parameter of `Study`.
OTHER_NAMES = {
    # the table and the target
    "train_data": "table",
    "dataframe": "table",
    "label": "target",
    "tuning_data": "test",
    "test_data": "test",
    "path": "output_dir",
    "results_path": "output_dir",
    # the problem
    "problem_type": "task",
    "ml_task": "task",
    "eval_metric": "metric",
    "scoring": "metric",
    # models and folds
    "presets": "preset",
    "mode": "preset",
    "hyperparameters": "models",
    "algorithms": "models",
    "estimator_list": "models",
    "estimators": "models",
    "hyperparameter_tune_kwargs": "search",
    "num_bag_folds": "cv",
    "validation_strategy": "cv",
    "eval_method": "cv",
    "n_splits": "cv",
    # resources
    "time_limit": "time_budget",
    "total_time_limit": "time_budget",
    "model_time_limit": "fit_timeout",
    "memory_limit": "fit_memory",
    "num_cpus": "n_jobs",
}
# Names of the arguments of `fit` in FLAML.
_FIT_ARGUMENTS = {"X_train": "X", "y_train": "y"}

Subject = TypeVar("Subject")
P = ParamSpec("P")
R = TypeVar("R")


def find_name(name: str) -> str | None:
    """Return the parameter of `Study` for a name that is none of its own; None if unknown.

    Examples
    --------
    >>> find_name("time_limit"), find_name("jobs"), find_name("no_such_name")
    ('time_budget', 'n_jobs', None)
    """
    return RETIRED.get(name) or OTHER_NAMES.get(name)


def name_study_parameters(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to name the parameter where a caller uses another or a former name."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name in RETIRED:
                raise TypeError(f"A study has no parameter {name!r}; it is {RETIRED[name]!r} now.")
            if name in OTHER_NAMES:
                raise TypeError(
                    f"A study has no parameter {name!r}; here it is {OTHER_NAMES[name]!r}."
                )
        return function(*args, **kwargs)

    return checked


def name_study_arguments(
    fit: Callable[Concatenate[Subject, P], R],
) -> Callable[Concatenate[Subject, P], R]:
    """Decorate `fit` to name the argument, or the parameter of `Study`, for another name."""
    own = inspect.signature(fit).parameters

    @wraps(fit)
    def checked(self: Subject, *args: P.args, **kwargs: P.kwargs) -> R:
        parameters = inspect.signature(type(self)).parameters
        for name in kwargs.keys() - own.keys():
            if name in _FIT_ARGUMENTS:
                raise TypeError(
                    f"Study.fit has no argument {name!r}; here it is {_FIT_ARGUMENTS[name]!r}."
                )
            ours = name if name in parameters else find_name(name)
            if ours is not None:
                raise TypeError(
                    f"Study.fit has no argument {name!r}; here it is the parameter {ours!r} of "
                    "Study."
                )
        return fit(self, *args, **kwargs)

    return cast(Callable[Concatenate[Subject, P], R], checked)
