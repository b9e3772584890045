"""Methods with a class of their own: a general estimator, some of whose parameters are fixed."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

__all__ = ["FixedParameters"]


class FixedParameters:
    """Mixin of an estimator that is a more general one with some of its parameters fixed.

    The subclass lists its own parameters in ``__init__`` and passes them on to that of the general
    class together with the fixed ones. So the general class runs as it is, a fixed parameter is a
    plain attribute, and `get_params`, model files and `repr` know the listed ones alone. What
    constrains the others is dropped here, as scikit-learn wants one entry for each parameter.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        listed = inspect.signature(cls.__init__).parameters
        cls._parameter_constraints = {
            name: allowed for name, allowed in cls._parameter_constraints.items() if name in listed
        }
