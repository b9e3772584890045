"""Estimators that are special cases of a more general estimator."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

__all__ = ["FixedParameters"]


class FixedParameters:
    """Mixin of estimators that fix some parameters of a more general estimator.

    The subclass lists its own parameters in ``__init__`` and passes them, with the fixed ones, to
    the ``__init__`` of the general class. A fixed parameter is then a plain attribute, and
    `get_params`, model files and `repr` only include the listed parameters. Constraints of the
    other parameters are removed, as scikit-learn requires one entry per parameter.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        listed = inspect.signature(cls.__init__).parameters
        cls._parameter_constraints = {
            name: allowed for name, allowed in cls._parameter_constraints.items() if name in listed
        }
