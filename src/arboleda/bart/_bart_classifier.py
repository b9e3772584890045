"""Classification by Bayesian additive regression trees."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length

from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.targets import encode_classes
from arboleda._base.tree_learner import CategoricalFeatures
from arboleda._engine.bart import BartSamples, Posterior, sample_bart
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.target import read_target
from arboleda.bart._bart import Array, BaseBART, Floats, check_draws_fit
from arboleda.bart._posterior import get_interval_levels
from arboleda.persist import Field, Integer, Labels

_PRIOR_RANGE = 3.0  # of the latent function: Phi(-3) and Phi(3) are about 0.001 and 0.999


class BARTClassifier(ClassifierMixin, BaseBART):  # type: ignore[misc]
    """BART classification: sums of trees drawn from their posterior distribution.

    For two classes the model is a probit,

        P(class 2 | x) = Phi(offset + sum_j g(x; T_j, M_j)),

    with the tree prior of `BARTRegressor` and leaf values ``N(0, (3 / (k sqrt(m)))^2)``. The chains
    draw a latent normal target with unit noise variance for each row (Albert and Chib 1993), and
    then the trees. The offset is the probit of the share of the class in the training rows.

    K classes are modeled by a sequence of K - 1 probits, class 1 against the rest, class 2 against
    the remaining classes, and so on:

        P(class k | x) = p_k(x) prod_{j<k} (1 - p_j(x)).

    Each probit is fitted on the rows of its class and the later ones. The likelihood is the product
    of their likelihoods, so the joint draws are from the posterior of the whole model. The classes
    are in the order of ``classes_``.

    Parameters
    ----------
    n_estimators : int, default=200
        Number m of trees per probit.
    n_draws : int, default=1000
        Total number of stored draws of all chains; a multiple of ``n_chains``.
    n_burn_in : int, default=250
        Number of initial sweeps over all trees that each chain discards.
    n_chains : int, default=4
        Number of independent chains, which run in parallel.
    alpha, beta : float, default=0.95 and 2.0
        Parameters of the split probability; ``0 < alpha < 1`` and ``beta >= 0``.
    k : float, default=2.0
        Shrinkage of the probabilities towards the class shares, stronger for larger values, from
        0.01 to 1000.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
        Number of classes.
    posteriors_ : tuple of Posterior
        Draws of the trees of each of the n_classes - 1 probits.
    r_hat_ : dict
        Split R-hat of the mean latent value of the training rows for each probit; near 1 after
        convergence. `fit` warns if one is above 1.1.
    acceptance_rates_ : dict
        Acceptance rates of the moves grow, prune, change and swap.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of `feature_inclusion`.
    trace_ : ndarray of shape (n_classes - 1, n_chains, n_burn_in + n_draws / n_chains)
        Mean latent value of the training rows after each sweep.
    moves_ : ndarray of int of shape (n_classes - 1, n_chains, 2, 4)
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
    BARTRegressor : Also describes moves, missing values, categories and memory.

    Notes
    -----
    There is no ``sample_weight``, because the latent target of a weighted row is not well defined.

    References
    ----------
    H. A. Chipman, E. I. George, R. E. McCulloch (2010), "BART: Bayesian additive regression trees",
    Annals of Applied Statistics 4(1), section 4.

    J. H. Albert, S. Chib (1993), "Bayesian analysis of binary and polychotomous response data",
    Journal of the American Statistical Association 88.

    R. Sparapani, C. Spanbauer, R. McCulloch (2021), "Nonparametric machine learning and efficient
    computation with Bayesian additive regression trees: the BART R package", Journal of Statistical
    Software 97(1): ``mbart``, the sequence of probits.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import BARTClassifier
    >>> X = np.linspace(0, 1, 100)[:, np.newaxis]
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> model = BARTClassifier(n_estimators=20, random_state=1).fit(X, y)
    >>> model.predict([[0.2], [0.8]]).tolist()
    ['no', 'yes']
    """

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BaseBART._fitted_attributes,
        "classes_": Labels(),
        "n_classes_": Integer(1),
    }

    classes_: Array
    n_classes_: int

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
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _trace_names(self) -> tuple[str, ...]:
        steps = range(self.n_classes_ - 1)
        return tuple(
            f"mean_latent of {self.classes_[step + (self.n_classes_ == 2)]}" for step in steps
        )

    @name_other_arguments
    def fit(self, X: Any, y: Any) -> Self:
        """Draw sums of trees from their posterior distribution.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : BARTClassifier

        Raises
        ------
        ValueError
            If a parameter, X or y is invalid, or the draws would not fit into memory.

        Warns
        -----
        ConvergenceWarning
            If the chains have not converged: an R-hat is above 1.1.
        """
        with restore_on_failure(self):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        table = self._read_table(X)
        self.classes_, labels = encode_classes(read_target(y, numeric=False), self)
        self.n_classes_ = len(self.classes_)
        check_consistent_length(table, labels)
        self._check_memory(table.n_rows, self.n_classes_ - 1)
        self._draw_seed()
        n_threads = resolve_n_jobs(self.n_jobs)
        coded = table.code(n_threads, self.max_bins)
        seeds = np.random.SeedSequence(self.seed_).generate_state(max(1, self.n_classes_ - 1))
        samples: list[BartSamples] = []
        for step in range(self.n_classes_ - 1):
            rows = np.flatnonzero(labels >= step).astype(np.uint32)
            # The positive class is the second of two classes, or the next one in the sequence.
            positive = 1 if self.n_classes_ == 2 else step
            target = (labels[rows] == positive).astype(np.float64)
            offset = float(ndtri(target.mean()))
            name = "" if self.n_classes_ == 2 else f"class {self.classes_[step]}: "
            samples.append(
                sample_bart(
                    coded,
                    rows,
                    target,
                    None,
                    self._make_options(
                        leaf_sd=_PRIOR_RANGE / (self.k * np.sqrt(self.n_estimators)),
                        nu=1.0,
                        scale=1.0,
                        sigma=1.0,
                        probit=True,
                        offset=offset,
                    ),
                    n_draws=self.n_draws,
                    n_trees=self.n_estimators,
                    centre=offset,
                    width=1.0,
                    n_threads=n_threads,
                    seed=int(seeds[step]),
                    progress=self._make_progress_callback(name),
                )
            )
        offsets = [one.posterior.centre for one in samples]
        self._store_samples(
            samples, [o + one.mean_fit for o, one in zip(offsets, samples, strict=True)]
        )

    def _draw_probabilities(self, posteriors: tuple[Posterior, ...], table: Any) -> Floats:
        """Draw class probabilities of shape (n_draws, n_samples, n_classes)."""
        n_threads = resolve_threads(table, self.n_jobs)
        if not posteriors:
            return np.ones((1, table.n_rows, 1))
        shares = np.empty((posteriors[0].n_draws, table.n_rows, self.n_classes_))
        if self.n_classes_ == 2:
            latent = posteriors[0].draw(table, n_threads)
            shares[..., 1], shares[..., 0] = ndtr(latent), ndtr(-latent)
            return shares
        left = np.ones(shares.shape[:2])
        for step, posterior in enumerate(posteriors):
            latent = posterior.draw(table, n_threads)
            shares[..., step] = left * ndtr(latent)
            left *= ndtr(-latent)
        shares[..., -1] = left
        return shares

    @property
    def _n_draws(self) -> int:
        return self.posteriors_[0].n_draws if self.posteriors_ else 1

    def predict_proba(self, X: Any) -> Floats:
        """Predict the posterior mean of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        table = self._check_input(X)
        p = np.empty((table.n_rows, self.n_classes_))
        for rows, block in self._iter_blocks(table, self._n_draws * self.n_classes_):
            p[rows] = self._draw_probabilities(self.posteriors_, block).mean(axis=0)
        return p

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest posterior mean probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        p = self.predict_proba(X)
        labels: Array = self.classes_[p.argmax(axis=1)]
        return labels

    def sample_posterior(self, X: Any) -> Floats:
        """Return the class probabilities of each row in every draw.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        draws : ndarray of shape (n_draws, n_samples, n_classes)
            The draws of all chains, concatenated.

        Raises
        ------
        ValueError
            If the draws would not fit into memory.
        """
        table = self._check_input(X)
        check_draws_fit(self._n_draws, table.n_rows, self.n_classes_)
        return self._draw_probabilities(self.posteriors_, table)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Predict credible intervals of the class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            Strictly between 0 and 1.

        Returns
        -------
        intervals : ndarray of shape (n_samples, n_classes, 2)

        Raises
        ------
        ValueError
            If ``coverage`` is not strictly between 0 and 1.
        """
        levels = get_interval_levels(coverage)
        table = self._check_input(X)
        intervals = np.empty((table.n_rows, self.n_classes_, 2))
        for rows, block in self._iter_blocks(table, self._n_draws * self.n_classes_):
            draws = self._draw_probabilities(self.posteriors_, block)
            intervals[rows] = np.moveaxis(np.quantile(draws, levels, axis=0), 0, -1)
        return intervals

    def _defect(self) -> str | None:
        if len(self.classes_) != self.n_classes_ or len(self.posteriors_) != self.n_classes_ - 1:
            return "the number of classes of the header does not match the posteriors"
        return super()._defect()
