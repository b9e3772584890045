"""Errors for arguments of the plain `fit` that a fit on workers does not have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar, cast

from arboleda._base.parameter_names import name_other_arguments

__all__ = ["refuse_plain_arguments"]

_INIT_SCORE = "start from a model with warm_start=True"
_EVALUATION = "give X_val and y_val"
_REMEDIES = {
    "init_score": _INIT_SCORE,
    "init_score_val": _INIT_SCORE,
    "eval_set": _EVALUATION,
    "eval_metric": _EVALUATION,
}

Estimator = TypeVar("Estimator")
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def refuse_plain_arguments(
    fit: Callable[Concatenate[Estimator, Arguments], Returned],
) -> Callable[Concatenate[Estimator, Arguments], Returned]:
    """Decorate `fit`: the error for an argument of the plain class, or of another library, helps.

    Raises
    ------
    TypeError
    """
    named_fit = name_other_arguments(fit)

    @functools.wraps(fit)
    def checked_fit(
        self: Estimator, *args: Arguments.args, **options: Arguments.kwargs
    ) -> Returned:
        for name in options:
            if name in _REMEDIES:
                remedy = _REMEDIES[name]
                raise TypeError(
                    f"arboleda.dask.{type(self).__name__}.fit does not support {name}: {remedy}"
                )
        return named_fit(self, *args, **options)

    return cast(Callable[Concatenate[Estimator, Arguments], Returned], checked_fit)
