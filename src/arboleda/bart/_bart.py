"""Base class of the estimators by Bayesian additive regression trees."""

from __future__ import annotations

import sys
import time
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._base.tree_learner import CategoricalFeatures
from arboleda._engine.bart import BartOptions, BartSamples, Posterior
from arboleda._engine.columns import Schema
from arboleda._engine.parallel import get_usable_memory, resolve_n_jobs
from arboleda._engine.table import DenseTable, SparseTable, check_table
from arboleda.bart._posterior import PosteriorsField, compute_split_r_hat
from arboleda.persist import Field, Integer, SavedArray, SavedModel

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

Kind = Literal["mean", "prediction"]
MOVES = ("grow", "prune", "change", "swap")

_MAX_R_HAT = 1.1  # Gelman et al. (2013), section 11.5
_NODES_PER_TREE = 5  # approximate mean under the default prior
_MAX_BLOCK_VALUES = 2**23  # draws x rows in a block: 64 MiB


class BaseBART(NamesOtherParameters, SavedModel, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base class with the priors, chains and draws of BART."""

    _uses_binned_data = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_burn_in": [Interval(Integral, 0, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
        "beta": [Interval(Real, 0.0, None, closed="left")],
        "k": [Interval(Real, 0.01, 1000.0, closed="both")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        "posteriors_": PosteriorsField(),
        "seed_": Integer(),
        "trace_": SavedArray(np.float64, 3),
        "moves_": SavedArray(np.int64, 4),
    }

    n_estimators: int
    n_draws: int
    n_burn_in: int
    n_chains: int
    alpha: float
    beta: float
    k: float
    min_samples_leaf: int
    max_bins: int
    categorical_features: CategoricalFeatures
    verbose: int
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    n_features_in_: int
    posteriors_: tuple[Posterior, ...]
    schema_: Schema
    seed_: int
    trace_: Floats
    moves_: npt.NDArray[np.int64]

    @property
    @abstractmethod
    def _trace_names(self) -> tuple[str, ...]:
        """Names of the rows of `trace_`."""

    # Fitting

    def _read_table(self, X: Any) -> DenseTable | SparseTable:
        """Validate the parameters and the table, and store its columns."""
        self._validate_params()
        if self.n_draws % self.n_chains:
            raise ValueError(
                f"n_draws must be a multiple of n_chains, got n_draws={self.n_draws} and "
                f"n_chains={self.n_chains}."
            )
        return check_table(self, X, reset=True, categorical_features=self.categorical_features)

    def _draw_seed(self) -> None:
        random = check_random_state(self.random_state)
        self.seed_ = int(random.randint(np.iinfo(np.int32).max))

    def _make_options(self, **more: Any) -> BartOptions:
        return BartOptions(
            n_trees=self.n_estimators,
            n_burn_in=self.n_burn_in,
            n_draws=self.n_draws // self.n_chains,
            n_chains=self.n_chains,
            alpha=self.alpha,
            beta=self.beta,
            min_samples_leaf=self.min_samples_leaf,
            **more,
        )

    def _check_memory(self, n_rows: int, n_posteriors: int) -> None:
        """Raise if a fit would not fit into memory."""
        chains = min(self.n_chains, resolve_n_jobs(self.n_jobs))
        rows = chains * n_rows * (self.n_estimators + 16)
        nodes = 2 * 8 * _NODES_PER_TREE * self.n_draws * self.n_estimators * n_posteriors
        _check_bytes(
            rows + nodes,
            f"{self.n_draws:,} draws of {self.n_estimators:,} trees on {n_rows:,} rows",
            "lower n_draws or n_estimators",
        )

    def _make_progress_callback(self, step: str = "") -> Callable[[int], None] | None:
        """Return a callback that prints the progress; None if ``verbose`` is 0."""
        if not self.verbose:
            return None
        total = self.n_chains * self.n_burn_in + self.n_draws
        every = 1 if self.verbose > 1 else max(1, total // 10)
        began = time.monotonic()
        printed = 0

        def report(n_sweeps: int) -> None:
            nonlocal printed
            if n_sweeps < total and n_sweeps // every == printed // every:
                return
            printed = n_sweeps
            passed = time.monotonic() - began
            sys.stdout.write(f"{step}sweep {n_sweeps} of {total}, {passed:.1f} s\n")
            sys.stdout.flush()

        return report

    def _store_samples(self, samples: Sequence[BartSamples], trace: Sequence[Floats]) -> None:
        """Store the samples, and warn if the chains have not converged."""
        self.posteriors_ = tuple(one.posterior for one in samples)
        n_sweeps = self.n_burn_in + self.n_draws // self.n_chains
        self.trace_ = np.array(trace, dtype=np.float64).reshape(-1, self.n_chains, n_sweeps)
        self.moves_ = np.array([one.moves for one in samples], dtype=np.int64)
        self.moves_ = self.moves_.reshape(-1, self.n_chains, 2, len(MOVES))
        worst = {name: value for name, value in self.r_hat_.items() if value > _MAX_R_HAT}
        if worst:
            values = ", ".join(f"{name} {value:.2f}" for name, value in worst.items())
            warnings.warn(
                f"The chains have not converged: R-hat is above {_MAX_R_HAT} ({values}); "
                "raise n_burn_in and n_draws.",
                ConvergenceWarning,
                stacklevel=4,
            )

    # Samples

    @property
    def _n_kept_draws(self) -> int:
        """Number of stored draws of each chain."""
        n_chains = self.trace_.shape[1]
        return self.posteriors_[0].n_draws // n_chains if self.posteriors_ else 0

    @property
    def r_hat_(self) -> dict[str, float]:
        """Split R-hat of the quantities of `trace_`, without the burn-in; near 1 if converged."""
        check_is_fitted(self)
        first = self.trace_.shape[2] - self._n_kept_draws
        return {
            name: compute_split_r_hat(draws[:, first:])
            for name, draws in zip(self._trace_names, self.trace_, strict=True)
        }

    @property
    def acceptance_rates_(self) -> dict[str, float]:
        """Share of the proposed moves of each kind that were accepted, over all sweeps."""
        check_is_fitted(self)
        proposed, accepted = self.moves_.sum(axis=(0, 1))
        return {
            name: float(accepted[i] / proposed[i]) if proposed[i] else float("nan")
            for i, name in enumerate(MOVES)
        }

    def feature_inclusion(self) -> Floats:
        """Compute the share of the splitting rules of each draw that use each column.

        Chipman, George & McCulloch (2010), section 3.2 (equation 13): relevant columns are used
        more often. With few trees (``n_estimators`` of 10 or 20) the columns compete, and
        irrelevant columns are hardly ever used.

        Returns
        -------
        shares : ndarray of shape (n_draws, n_features)
            Each row sums to 1, or is all 0 if no tree of the draw has a split. For several
            classes, the rules of all probits are counted together.
        """
        check_is_fitted(self)
        if not self.posteriors_:
            return np.zeros((self.n_draws, self.n_features_in_))
        counts = np.sum([posterior.split_counts() for posterior in self.posteriors_], axis=0)
        totals = counts.sum(axis=1, keepdims=True)
        shares: Floats = counts / np.maximum(totals, 1)
        return shares

    @property
    def feature_importances_(self) -> Floats:
        """Mean over the draws of `feature_inclusion`, of shape (n_features,)."""
        importances: Floats = self.feature_inclusion().mean(axis=0)
        return importances

    # Predictions

    def _check_input(self, X: Any) -> DenseTable | SparseTable:
        check_is_fitted(self)
        return check_table(self, X, reset=False)

    def _iter_blocks(
        self, table: DenseTable | SparseTable, n_draws: int
    ) -> Iterator[tuple[slice, Any]]:
        """Yield blocks of rows whose draws fit into memory."""
        size = max(1, _MAX_BLOCK_VALUES // max(1, n_draws))
        if table.n_rows <= size:
            yield slice(0, table.n_rows), table
            return
        for begin in range(0, table.n_rows, size):
            end = min(begin + size, table.n_rows)
            yield slice(begin, end), table.take(np.arange(begin, end))

    def _defect(self) -> str | None:
        for posterior in self.posteriors_:
            defect = posterior.defect(self.schema_.n_levels)
            if defect is not None:
                return defect
        n_chains, n_sweeps = self.trace_.shape[1:]
        if self.moves_.shape != (len(self.posteriors_), n_chains, 2, len(MOVES)):
            return "the shape of moves_ does not match the posteriors"
        if len(self.trace_) != len(self._trace_names):
            return "the number of quantities of trace_ does not match the model"
        sizes = {(posterior.n_draws, posterior.n_trees) for posterior in self.posteriors_}
        if len(sizes) > 1:
            return "the posteriors of the classes have different sizes"
        for n_draws, _ in sizes:
            if n_chains == 0 or n_draws % n_chains or n_draws > n_chains * n_sweeps:
                return "the number of draws of trace_ does not match the posteriors"
        return None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def check_draws_fit(n_draws: int, n_rows: int, n_values: int = 1) -> None:
    """Raise if draws for this number of rows would not fit into memory."""
    _check_bytes(
        8 * n_draws * n_rows * n_values,
        f"{n_draws:,} draws for {n_rows:,} rows",
        "pass fewer rows at a time",
    )


def _check_bytes(needed: int, what: str, remedy: str) -> None:
    if needed > get_usable_memory():
        raise ValueError(f"{what} need about {needed / 2**30:,.0f} GiB of memory: {remedy}.")
