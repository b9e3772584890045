"""Base of the estimators whose `fit` runs on the workers of Dask."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

from sklearn.base import clone

__all__ = ["FittedByWorkers"]


class FittedByWorkers:
    """A plain estimator with the parameter ``client``; it stands before the plain class.

    A subclass sets ``_about``, its docstring with places for the first sentence and the name of the
    plain class; ``_defaults`` are those of parameters that differ from the plain class.
    """

    _about: ClassVar[str] = "{first}"
    _defaults: ClassVar[dict[str, Any]] = {}
    _plain: ClassVar[Any]
    _parameter_constraints: ClassVar[dict[str, Any]]
    __signature__: ClassVar[inspect.Signature]

    def __init__(self, *, client: Any = None, **params: Any) -> None:
        super().__init__(**{**self._defaults, **params})
        self.client = client

    def __init_subclass__(cls, plain: Any = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if plain is None:
            return
        cls._plain = plain
        cls._parameter_constraints = {**plain._parameter_constraints, "client": "no_validation"}
        cls.__doc__ = cls._about.format(first=cls.__doc__, name=plain.__name__)
        own = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)
        others = [
            parameter.replace(
                kind=inspect.Parameter.KEYWORD_ONLY,
                default=cls._defaults.get(parameter.name, parameter.default),
            )
            for parameter in inspect.signature(plain).parameters.values()
        ]
        cls.__signature__ = inspect.Signature([own, *others])

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(["client", *cls._plain._get_param_names()])

    def __sklearn_clone__(self) -> Self:
        params: dict[str, Any] = self._make_plain().get_params(deep=False)
        return type(self)(client=self.client, **params)

    def __getstate__(self) -> dict[str, Any]:
        # A client belongs to its process.
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state["client"] = None
        return state

    def _make_plain(self) -> Any:
        """Return the unfitted plain estimator with the same parameters."""
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        return clone(self._plain(**{k: v for k, v in params.items() if k != "client"}))

    def to_local(self) -> Any:
        """Return the fitted estimator as the plain class, which needs no Dask and can be saved.

        Returns
        -------
        estimator : estimator
        """
        plain = self._make_plain()
        own = plain.get_params(deep=False)
        state = {k: v for k, v in vars(self).items() if k not in {*own, "client"}}
        vars(plain).update(state)
        return plain
