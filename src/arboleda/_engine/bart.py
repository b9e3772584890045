"""Bayesian additive regression trees: the engine's sampler and its posterior draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._native import BartOptions, BinnedDataset

__all__ = ["BartOptions", "BartSamples", "Posterior", "sample_bart"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# One-dimensional arrays that represent a posterior.
POSTERIOR_ARRAYS: Mapping[str, type[np.float64 | np.int64]] = {
    "n_cuts": np.int64,
    "n_levels": np.int64,
    "cuts": np.float64,
    "nodes": np.int64,
    "scale": np.float64,
}


class Posterior:
    """Posterior draws of a sum of trees. Immutable and thread-safe.

    The function of a draw at a row is ``centre + unit * s``, where s is the sum of the integer leaf
    values of its trees; sums of integers have the same bits in any order.
    """

    def __init__(self, native: _native.BartPosterior) -> None:
        self._native = native

    @classmethod
    def from_arrays(
        cls, n_draws: int, n_trees: int, arrays: Mapping[str, npt.NDArray[Any]]
    ) -> Posterior:
        """Create a posterior from the arrays returned by `arrays`.

        Raises
        ------
        ValueError
            If the arrays are invalid.
        """
        scale = arrays["scale"]
        if scale.shape != (2,):
            raise ValueError("the scale of a posterior must have two numbers")
        native = _native.BartPosterior(
            n_draws,
            n_trees,
            arrays["n_cuts"],
            arrays["n_levels"],
            arrays["cuts"],
            arrays["nodes"],
            float(scale[0]),
            float(scale[1]),
        )
        return cls(native)

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self._native.n_draws

    @property
    def n_trees(self) -> int:
        """Number of trees per draw."""
        return self._native.n_trees

    @property
    def centre(self) -> float:
        """Value of a draw whose trees are all 0."""
        return self._native.centre

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays of the posterior, by the names of `POSTERIOR_ARRAYS`."""
        native = self._native
        scale = np.array([native.centre, native.unit])
        return {
            "n_cuts": native.n_cuts,
            "n_levels": native.n_levels,
            "cuts": native.cuts,
            "nodes": native.nodes,
            "scale": scale,
        }

    def draw(
        self,
        table: DenseTable | SparseTable,
        n_threads: int = 1,
        draws: slice = slice(None),
    ) -> Floats:
        """Return the values of consecutive draws at every row, (n_draws, n_samples)."""
        first, last, _ = draws.indices(self.n_draws)
        values: Callable[..., Floats] = self._native.draw
        return values(*table.native, first, last, n_threads)

    def mean(self, table: DenseTable | SparseTable, n_threads: int = 1) -> Floats:
        """Return the mean over all draws at every row, (n_samples,)."""
        mean: Callable[..., Floats] = self._native.mean
        return mean(*table.native, n_threads)

    def split_counts(self) -> Integers:
        """Return the number of splits on each column per draw, (n_draws, n_features)."""
        return self._native.split_counts()

    def leaf_counts(self) -> Integers:
        """Return the number of leaves of each tree, (n_draws, n_trees)."""
        return self._native.leaf_counts()

    def defect(self, n_levels: Sequence[int]) -> str | None:
        """Return a description of an inconsistency with the columns, or None."""
        if self._native.n_levels.tolist() != list(n_levels):
            return "the trees were fitted on different columns than the header lists"
        return None

    def __getstate__(self) -> dict[str, Any]:
        arrays = {name: np.array(array) for name, array in self.arrays.items()}
        return {"n_draws": self.n_draws, "n_trees": self.n_trees, "arrays": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._native = self.from_arrays(**state)._native


@dataclass(frozen=True)
class BartSamples:
    """Result of the sampler.

    Parameters
    ----------
    posterior : Posterior
        The kept draws, chain after chain.
    sigma, mean_fit : ndarray of shape (n_chains, n_sweeps)
        Standard deviation of the noise, and mean of the function over the training rows, after each
        sweep including the burn-in, in the units of the sampler.
    moves : ndarray of int of shape (n_chains, 2, 4)
        Numbers of proposals and acceptances of each move: grow, prune, change, swap.
    """

    posterior: Posterior
    sigma: Floats
    mean_fit: Floats
    moves: Integers


def sample_bart(
    table: BinnedDataset,
    rows: npt.NDArray[np.uint32],
    target: Floats,
    weight: Floats | None,
    options: BartOptions,
    *,
    n_draws: int,
    n_trees: int,
    centre: float,
    width: float,
    n_threads: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
) -> BartSamples:
    """Draw from the posterior of BART.

    ``target`` and ``weight`` belong to ``rows`` (ascending) of the table. The function of a draw is
    ``centre + width * sum of trees``.
    """
    found = _native.sample_bart(
        table,
        rows,
        np.ascontiguousarray(target, dtype=np.float64),
        None if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
        options,
        progress,
        n_threads,
        seed,
    )
    scale = np.array([centre, found["unit"] * width])
    arrays = {name: found.get(name, scale) for name in POSTERIOR_ARRAYS}
    posterior = Posterior.from_arrays(n_draws, n_trees, arrays)
    return BartSamples(posterior, found["sigma"], found["mean_fit"], found["moves"])
