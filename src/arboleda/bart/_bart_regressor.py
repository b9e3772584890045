"""Regression by Bayesian additive regression trees."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import chi2
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_y, check_consistent_length

from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.tree_learner import CategoricalFeatures
from arboleda._engine.bart import sample_bart
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.target import check_squares, check_total_weight, read_target, read_weight
from arboleda.bart._bart import BaseBART, Floats, Kind, check_draws_fit
from arboleda.bart._posterior import (
    compute_noisy_quantiles,
    estimate_noise,
    get_interval_levels,
    read_levels,
)


class BARTRegressor(RegressorMixin, BaseBART):  # type: ignore[misc]
    """BART regression: sums of trees drawn from their posterior distribution.

    The model is a sum of m small trees with normal noise,

        y = sum_j g(x; T_j, M_j) + noise,    noise ~ N(0, sigma^2 / w),

    with y shifted and scaled to [-0.5, 0.5]. The prior keeps each tree weak: a node of depth d
    splits with probability ``alpha (1 + d)^-beta``. The column of the split is uniform over those
    with available rules, and the rule is uniform over the cut points of the column. Leaf values are
    ``N(0, (0.5 / (k sqrt(m)))^2)``: the range of y extends k standard deviations of the sum to
    either side. sigma^2 is ``nu lambda / chi-square(nu)``, with lambda such that sigma is below a
    rough estimate (by least squares) with probability ``q``. Markov chains draw from the posterior;
    the prediction is the mean of the draws, and their spread measures its uncertainty.

    Parameters
    ----------
    n_estimators : int, default=200
        Number m of trees.
    n_draws : int, default=1000
        Total number of stored draws of all chains; a multiple of ``n_chains``.
    n_burn_in : int, default=250
        Number of initial sweeps over all trees that each chain discards.
    n_chains : int, default=4
        Number of independent chains, which run in parallel.
    alpha, beta : float, default=0.95 and 2.0
        Parameters of the split probability; ``0 < alpha < 1`` and ``beta >= 0``.
    k : float, default=2.0
        Number of prior standard deviations of the sum between the middle and the ends of the range
        of y, from 0.01 to 1000; larger values shrink more.
    nu : float, default=3.0
        Degrees of freedom of the prior of sigma^2; at least 1.
    q : float, default=0.9
        Prior probability that sigma is below the rough estimate. The paper calls (nu, q) =
        (3, 0.90) the default, (10, 0.75) conservative and (3, 0.99) aggressive.
    min_samples_leaf : int, default=5
        Minimum number of rows in a leaf; the prior is restricted to such trees.
    max_bins : int, default=255
        Maximum number of bins of a numeric column, from 2 to 255. Bins have about equally many
        rows, and cut points lie between neighboring bins.
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Categorical columns: indices, names, a mask, or all columns of text and category types.
    verbose : int, default=0
        1: print the progress occasionally; 2: print every sweep.
    random_state : int, RandomState or None, default=None
        Seed of the chains. The draws do not depend on ``n_jobs``.
    n_jobs : int or None, default=None
        Number of threads; None and -1: all cores.

    Attributes
    ----------
    sigma_samples_ : ndarray of shape (n_draws,)
        Drawn standard deviations of the noise of a row of weight 1, in units of y.
    posteriors_ : tuple of Posterior
        Draws of the trees, a tuple of length 1.
    r_hat_ : dict
        Split R-hat of sigma and of the mean prediction; near 1 after convergence. `fit` warns if
        one is above 1.1.
    acceptance_rates_ : dict
        Acceptance rates of the moves grow, prune, change and swap.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of `feature_inclusion`.
    trace_ : ndarray of shape (2, n_chains, n_burn_in + n_draws / n_chains)
        sigma and the mean prediction of the training rows after each sweep.
    moves_ : ndarray of int of shape (1, n_chains, 2, 4)
        Numbers of proposed and accepted moves.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.
    schema_ : Schema
        Names, types and categories of the columns.
    seed_ : int
        Seed of the chains.

    See Also
    --------
    BARTClassifier : BART for classification.
    RandomForestRegressor : Faster; its ``predict_interval`` uses the forest neighbors of a row.

    Notes
    -----
    The sampler uses all four moves of the paper: grow, prune, change (of any inner node) and swap,
    with probabilities 0.25, 0.25, 0.40 and 0.10. A tree has at most 256 leaves.

    Each rule sends missing values left or right, and a rule may split on missingness (Kapelner and
    Bleich 2015). A rule on a categorical column separates one category from the others, as if the
    column were one-hot encoded; categories not seen in `fit` are treated as missing.

    ``sample_weight`` divides the variance of the noise. A weight of 2 is therefore not quite the
    same as a duplicated row, because the number of rows used to estimate sigma differs. Rows of
    weight 0 are ignored.

    With few rows and many trees, sigma mixes slowly, and `fit` may warn about it after the mean
    prediction has converged: see ``r_hat_``. Fewer trees mix better.

    A draw takes 8 bytes per node, about 36 MB in total for 1000 draws of 200 trees of typical size.
    In `fit`, each running chain takes ``n_samples * n_estimators`` bytes. The time of `fit` grows
    with ``n_samples * n_estimators * (n_chains * n_burn_in + n_draws)``, and that of predictions
    with ``n_samples * n_estimators * n_draws``.

    References
    ----------
    H. A. Chipman, E. I. George, R. E. McCulloch (2010), "BART: Bayesian additive regression trees",
    Annals of Applied Statistics 4(1).

    A. Kapelner, J. Bleich (2016), "bartMachine: machine learning with Bayesian additive regression
    trees", Journal of Statistical Software 70(4).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import BARTRegressor
    >>> X = np.linspace(0, 1, 100)[:, np.newaxis]
    >>> y = np.where(X[:, 0] > 0.5, 3.0, 1.0)
    >>> model = BARTRegressor(n_estimators=20, n_draws=200, random_state=0).fit(X, y)
    >>> model.predict([[0.2], [0.8]]).round(1).tolist()
    [1.0, 3.0]
    >>> low, high = model.predict_interval([[0.2]], coverage=0.9)[0]
    >>> bool(low < 1.0 < high)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBART._parameter_constraints,
        "nu": [Interval(Real, 1.0, None, closed="left")],
        "q": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        n_draws: int = 1000,
        n_burn_in: int = 250,
        n_chains: int = 4,
        alpha: float = 0.95,
        beta: float = 2.0,
        k: float = 2.0,
        nu: float = 3.0,
        q: float = 0.9,
        min_samples_leaf: int = 5,
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_draws = n_draws
        self.n_burn_in = n_burn_in
        self.n_chains = n_chains
        self.alpha = alpha
        self.beta = beta
        self.k = k
        self.nu = nu
        self.q = q
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _trace_names(self) -> tuple[str, ...]:
        return ("sigma", "mean_prediction")

    @property
    def sigma_samples_(self) -> Floats:
        """Standard deviation of the noise in each draw, of shape (n_draws,)."""
        return self.trace_[0, :, self.trace_.shape[2] - self._n_kept_draws :].ravel()

    @name_other_arguments
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw sums of trees from their posterior distribution.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            The noise of a row has the variance sigma^2 / weight. Rows of weight 0 are ignored.

        Returns
        -------
        self : BARTRegressor

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is invalid, or the draws do not fit into memory.

        Warns
        -----
        ConvergenceWarning
            If the chains have not converged: an R-hat is above 1.1.
        """
        with restore_on_failure(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table = self._read_table(X)
        target = _check_y(read_target(y, numeric=True), y_numeric=True, estimator=self)
        if target.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {target.dtype}: convert dates and durations to numbers."
            )
        target = np.asarray(column_or_1d(target, warn=True), dtype=np.float64)
        check_consistent_length(table, target)
        weight = read_weight(sample_weight, table)
        check_total_weight(weight)
        used = np.arange(table.n_rows) if weight is None else np.flatnonzero(weight > 0.0)
        rows = used.astype(np.uint32)
        target = target[rows]
        check_squares(target)
        mean_weight = 1.0
        if weight is not None:
            weight = weight[rows]
            # Divide by the geometric mean, so squares stay within float64; undone in sigma.
            mean_weight = float(np.exp(np.log(weight).mean()))
            weight = None if (weight == weight[0]).all() else weight / mean_weight
        low, high = float(target.min()), float(target.max())
        centre, width = low / 2.0 + high / 2.0, high - low
        scaled = (target - centre) / (width or 1.0)
        self._check_memory(rows.size, 1)
        self._draw_seed()
        noise = estimate_noise(table, rows, scaled, weight)
        n_threads = resolve_n_jobs(self.n_jobs)
        samples = sample_bart(
            table.code(n_threads, self.max_bins, rows),
            rows,
            scaled,
            weight,
            self._make_options(
                leaf_sd=0.5 / (self.k * np.sqrt(self.n_estimators)),
                nu=self.nu,
                scale=noise**2 * float(chi2.ppf(1.0 - self.q, self.nu)) / self.nu,
                sigma=noise,
                probit=False,
                offset=0.0,
            ),
            n_draws=self.n_draws,
            n_trees=self.n_estimators,
            centre=centre,
            width=width,
            n_threads=n_threads,
            seed=self.seed_,
            progress=self._make_progress_callback(),
        )
        to_y = width * np.sqrt(mean_weight)
        self._store_samples([samples], [samples.sigma * to_y, centre + samples.mean_fit * width])

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predict the posterior mean of the function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to also return the posterior standard deviation of the function, which does not
            include the noise.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        table = self._check_input(X)
        (posterior,) = self.posteriors_
        n_threads = resolve_threads(table, self.n_jobs)
        mean = posterior.mean(table, n_threads)
        if not return_std:
            return mean
        std = np.empty_like(mean)
        for rows, block in self._iter_blocks(table, posterior.n_draws):
            off = posterior.draw(block, n_threads) - mean[rows]
            std[rows] = np.sqrt((off**2).sum(axis=0) / max(1, posterior.n_draws - 1))
        return mean, std

    def sample_posterior(self, X: Any) -> Floats:
        """Return the value of the function at each row in every draw.

        Add normal noise with the standard deviations ``sigma_samples_`` to draw new targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        draws : ndarray of shape (n_draws, n_samples)
            The draws of all chains, concatenated.

        Raises
        ------
        ValueError
            If the draws would not fit into memory.
        """
        table = self._check_input(X)
        (posterior,) = self.posteriors_
        check_draws_fit(posterior.n_draws, table.n_rows)
        return posterior.draw(table, resolve_threads(table, self.n_jobs))

    def predict_quantiles(
        self, X: Any, quantiles: Any = (0.1, 0.5, 0.9), kind: Kind = "prediction"
    ) -> Floats:
        """Predict quantiles of the target, or of the posterior of its mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : float, or array-like of shape (n_quantiles,), default=(0.1, 0.5, 0.9)
            Levels from 0 to 1; strictly between for ``kind="prediction"``.
        kind : {"prediction", "mean"}, default="prediction"
            "prediction": quantiles of the posterior predictive distribution of a new target of
            weight 1, the mixture of the normal distributions of all draws. "mean": quantiles of the
            posterior of the function, without noise.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles)
            Without the last axis if a single level is given as a number.

        Raises
        ------
        ValueError
            If a level or ``kind`` is invalid.
        """
        if kind not in {"prediction", "mean"}:
            raise ValueError(f"kind must be 'prediction' or 'mean', got {kind!r}.")
        levels = read_levels(quantiles, closed=kind == "mean")
        table = self._check_input(X)
        (posterior,) = self.posteriors_
        n_threads = resolve_threads(table, self.n_jobs)
        values = np.empty((table.n_rows, levels.size))
        for rows, block in self._iter_blocks(table, posterior.n_draws):
            draws = posterior.draw(block, n_threads)
            values[rows] = (
                np.quantile(draws, levels, axis=0).T
                if kind == "mean"
                else compute_noisy_quantiles(draws, self.sigma_samples_, levels)
            )
        return values[:, 0] if np.ndim(quantiles) == 0 else values

    def predict_interval(self, X: Any, coverage: float = 0.9, kind: Kind = "prediction") -> Floats:
        """Predict an interval that contains the target, or its mean, with given probability.

        It extends from the quantile of level (1 - coverage) / 2 to that of (1 + coverage) / 2; see
        `predict_quantiles`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            Strictly between 0 and 1.
        kind : {"prediction", "mean"}, default="prediction"
            Whether the interval is for a new target or for the function, without noise.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)

        Raises
        ------
        ValueError
            If ``coverage`` or ``kind`` is invalid.
        """
        return self.predict_quantiles(X, get_interval_levels(coverage), kind)
