"""Draws of trees in model files, as plain arrays in sections."""

from __future__ import annotations

from typing import Any

from arboleda._engine.bart import POSTERIOR_ARRAYS, Posterior
from arboleda._errors import ModelFormatError
from arboleda.persist import Array


class PosteriorsField:
    """Field of a tuple of posteriors, each with five arrays."""

    def encode(self, name: str, value: Any, sections: Any) -> list[dict[str, Any]]:
        """Return the sizes of each posterior and the names of its arrays."""
        return [
            {
                "n_draws": posterior.n_draws,
                "n_trees": posterior.n_trees,
                "arrays": {
                    part: Array(dtype).encode(
                        f"{name}.{number}.{part}", posterior.arrays[part], sections
                    )
                    for part, dtype in POSTERIOR_ARRAYS.items()
                },
            }
            for number, posterior in enumerate(value)
        ]

    def decode(self, name: str, stored: Any, sections: Any) -> tuple[Posterior, ...]:
        """Return the validated posteriors."""
        if not isinstance(stored, list):
            raise ModelFormatError(f"{name} is not a list of posteriors")
        return tuple(
            self._decode_one(f"{name}.{number}", one, sections) for number, one in enumerate(stored)
        )

    def _decode_one(self, name: str, stored: Any, sections: Any) -> Posterior:
        match stored:
            case {
                "n_draws": int(n_draws),
                "n_trees": int(n_trees),
                "arrays": dict(names),
                **rest,
            } if (
                not rest
                and type(n_draws) is type(n_trees) is int
                and 0 < n_draws < 2**62
                and 0 < n_trees < 2**62
                and names.keys() == POSTERIOR_ARRAYS.keys()
            ):
                arrays = {
                    part: Array(dtype).decode(f"{name}.{part}", names[part], sections)
                    for part, dtype in POSTERIOR_ARRAYS.items()
                }
            case _:
                raise ModelFormatError(f"{name} is not a posterior of trees")
        try:
            return Posterior.from_arrays(n_draws, n_trees, arrays)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error
