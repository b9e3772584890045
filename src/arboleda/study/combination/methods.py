"""Methods that combine the models of a study: functions of their out-of-fold predictions.

A method's own predictions for these rows are cross-fitted: by a rule fitted to other rows.

References
----------
D. H. Wolpert (1992), "Stacked generalization", Neural Networks 5; L. Breiman (1996), "Stacked
regressions", Machine Learning 24; K. M. Ting, I. H. Witten (1999), "Issues in stacked
generalization", JAIR 10; R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes (2004), "Ensemble
selection from libraries of models", ICML; C. Guo, G. Pleiss, Y. Sun, K. Weinberger (2017), "On
calibration of modern neural networks", ICML.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression, RidgeCV

from arboleda.combine import (
    Constraint,
    constrained_weights,
    make_ensemble_scorer,
    select_greedily,
)
from arboleda.study.combination.boosted import (
    LEAST_ROWS,
    can_boost,
    estimate_boosting_seconds,
    fit_boosted_rule,
)
from arboleda.study.combination.cross_fitting import FitRule
from arboleda.study.combination.rules import (
    CombinationRule,
    LinearRule,
    MeanRule,
    choose_best_few,
    compute_losses,
    make_textbook_fit,
    scale_by_temperature,
)
from arboleda.tables.target import n_scores

__all__ = [
    "FEWEST",
    "METHODS",
    "SINGLE_MODELS",
    "TEXTBOOK",
    "Method",
    "fit_temperature",
]

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[np.int64] | Floats
# Seconds of one core, from numbers of members, rows and classes (0 in a regression).
Seconds = Callable[[int, int, int], float]
Suits = Callable[[int, int, int], bool]

# Models that are not ensembles themselves: the members of the textbook's stack.
SINGLE_MODELS = (
    "cart",
    "elastic_net",
    "neighbours",
    "lasso",
    "lda",
    "linear",
    "logistic",
    "naive_bayes",
    "network",
    "ridge",
    "svm",
)
# With fewer members there is nothing to combine.
FEWEST = 2
# Greedy selections, each on another bootstrap sample of the rows, and the steps of each.
BAGS, ROUNDS = 8, 25
# Prior standard deviation of the logarithm of the temperature.
TEMPERATURE_SD = 0.1
# Maximum rows times columns times classes of a linear meta-model: a few seconds.
META_CELLS = 20_000_000
# Maximum rows for the greedy selection.
MAX_SELECTION_ROWS = 20_000
# Seconds per output, and the maximum number of columns that an output counts as.
OUTPUT_SECONDS, MOST_COLUMNS = 8e-8, 5
RIDGE_PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


def _estimate_few_seconds(n_members: int, n_rows: int, n_classes: int) -> float:
    """Estimate the seconds of a method that reads each output a few times."""
    return OUTPUT_SECONDS * n_members * n_rows * min(MOST_COLUMNS, max(1, n_classes - 1))


@dataclass(frozen=True)
class Method:
    """A method that combines models: its key, its name, the function that fits it, its members.

    ``members`` are the keys of the models that may take part; None: all. From numbers of members,
    rows and classes, ``suits`` returns whether the method is worth trying, and ``seconds``
    estimates the time of one fit. ``base`` is the key of an earlier method whose rule, fitted to
    the same rows, the function takes as ``base``; without it, it fits this rule itself.
    ``uses_threads``: whether several fits may run at a time. They must not change the process-wide
    filters of warnings, as scikit-learn's may.
    """

    key: str
    name: str
    fit: FitRule
    members: tuple[str, ...] | None = None
    suits: Suits = lambda n_members, n_rows, n_classes: True
    seconds: Seconds = _estimate_few_seconds
    base: str | None = None
    uses_threads: bool = False


def _fit_soft_vote(outputs: Floats, target: Array, seed: int) -> CombinationRule:
    """Fit the plain mean of the best few members, by log-loss or squared error."""
    weights = np.zeros(len(outputs))
    weights[list(choose_best_few(outputs, target))] = 1.0
    return MeanRule(tuple((weights / weights.sum()).tolist()))


def _fit_stacking(outputs: Floats, target: Array, seed: int) -> CombinationRule:
    """Fit logistic regression to the probabilities, or ridge regression to values."""
    if outputs.ndim == 2:
        return _fit_ridge(outputs, target)
    n_members, n_rows, n_classes = outputs.shape
    width = n_members * n_scores(n_classes)
    rows = _draw_rows(n_rows, META_CELLS // (width * n_classes), seed)
    model = LogisticRegression(max_iter=1000)
    model.fit(LinearRule.make_columns(outputs[:, rows]), target[rows])
    return LinearRule(model.coef_, model.intercept_, tuple(model.classes_.tolist()))


def _fit_ridge(outputs: Floats, target: Array) -> CombinationRule:
    """Fit ridge regression to the standardized target, so that the penalty has no unit."""
    centre, spread = float(target.mean()), float(target.std()) or 1.0
    model = RidgeCV(RIDGE_PENALTIES)
    model.fit((outputs.T - centre) / spread, (target - centre) / spread)
    intercept = centre + spread * float(model.intercept_) - centre * float(model.coef_.sum())
    return LinearRule(model.coef_[None, :], np.array([intercept]))


def _fit_nonnegative(outputs: Floats, target: Array, seed: int) -> CombinationRule:
    """Fit non-negative weights; for probabilities with the sum 1."""
    constraint: Constraint = "nonnegative" if outputs.ndim == 2 else "simplex"
    weights = constrained_weights(outputs, target, constraint)
    return MeanRule(tuple(weights.tolist()))


def _fit_greedy(outputs: Floats, target: Array, seed: int) -> MeanRule:
    """Fit ensemble selection on bootstrap samples of the rows, then a temperature.

    Each step adds the member that reduces the mean's log-loss or squared error most.
    """
    rows = _draw_rows(outputs.shape[1], MAX_SELECTION_ROWS, seed)
    selected, known = outputs[:, rows], target[rows]
    n_members, n_classes = len(outputs), outputs.shape[2] if outputs.ndim == 3 else 0
    draw = np.random.default_rng([seed, n_members])
    shares = []
    for _ in range(BAGS):
        # Rows are repeated rather than weighted, which is quicker to score.
        times = draw.multinomial(len(rows), np.full(len(rows), 1.0 / len(rows)))
        drawn = np.repeat(np.arange(len(rows)), times)
        scorer = make_ensemble_scorer(
            "neg_log_loss" if n_classes else "neg_mean_squared_error",
            selected[:, drawn],
            known[drawn],
            np.ones(len(drawn)),
            np.arange(n_classes) if n_classes else None,
        )
        shares.append(select_greedily(scorer, range(n_members), None, ROUNDS).shares(n_members))
    rule = MeanRule(tuple(np.mean(shares, axis=0).tolist()))
    if not n_classes:
        return rule
    return MeanRule(rule.weights, fit_temperature(rule(selected), known))


def _fit_boosted(
    outputs: Floats, target: Array, seed: int, base: CombinationRule | None = None
) -> CombinationRule:
    """Fit boosted trees on all members to the greedy selection, unless rows are too few.

    ``base`` is that selection if it has been fitted before.
    """
    mean = base if isinstance(base, MeanRule) else _fit_greedy(outputs, target, seed)
    if len(target) < LEAST_ROWS // 2:  # the first time windows, or next to a large fold
        return mean
    return fit_boosted_rule(mean, outputs, target, seed)


def fit_temperature(probabilities: Floats, target: Array) -> float:
    """Return the maximum a posteriori temperature between 1/4 and 4 with a prior around 1.

    Its logarithm has a normal prior around 0: with a few hundred rows, the log-loss alone hardly
    determines the temperature.
    """

    def negative_log_posterior(log_temperature: float) -> float:
        p = scale_by_temperature(probabilities, float(np.exp(log_temperature)))
        loss = len(target) * float(compute_losses(p[None], target)[0])
        return 0.5 * (log_temperature / TEMPERATURE_SD) ** 2 + loss

    limit = float(np.log(4.0))
    return float(
        np.exp(minimize_scalar(negative_log_posterior, bounds=(-limit, limit), method="bounded").x)
    )


def _draw_rows(n_rows: int, limit: int, seed: int) -> npt.NDArray[np.int64]:
    if n_rows <= limit:
        return np.arange(n_rows)
    draw = np.random.default_rng([seed, n_rows])
    return np.sort(draw.choice(n_rows, limit, replace=False))


METHODS: tuple[Method, ...] = (
    Method("soft_vote", "Soft vote", _fit_soft_vote),
    Method("greedy_selection", "Greedy selection", _fit_greedy, uses_threads=True),
    Method("nonnegative_stacking", "Non-negative stacking", _fit_nonnegative),
    Method("stacking", "Stacking", _fit_stacking),
    Method("single_stacking", "Stacking of single models", _fit_stacking, SINGLE_MODELS),
    Method(
        "boosted_stacking",
        "Stacking by boosting",
        _fit_boosted,
        suits=can_boost,
        seconds=estimate_boosting_seconds,
        base="greedy_selection",
        uses_threads=True,
    ),
)


def _is_classification(n_members: int, n_rows: int, n_classes: int) -> bool:
    return n_classes > 0


def _is_regression(n_members: int, n_rows: int, n_classes: int) -> bool:
    return n_classes == 0


# Methods for studies of the whole catalogue.
TEXTBOOK: tuple[Method, ...] = (
    Method(
        "majority_vote", "Majority vote", make_textbook_fit("majority"), suits=_is_classification
    ),
    Method(
        "weighted_vote", "Weighted vote", make_textbook_fit("weighted"), suits=_is_classification
    ),
    Method("weighted_mean", "Weighted mean", make_textbook_fit("weighted"), suits=_is_regression),
    Method(
        "geometric_mean", "Geometric mean", make_textbook_fit("geometric"), suits=_is_classification
    ),
    Method("median", "Median of models", make_textbook_fit("median")),
    Method("minimum", "Minimum of models", make_textbook_fit("min")),
    Method("maximum", "Maximum of models", make_textbook_fit("max")),
    Method("trimmed_mean", "Trimmed mean", make_textbook_fit("trimmed")),
    Method(
        "naive_bayes_vote",
        "Naive Bayes vote",
        make_textbook_fit("naive_bayes"),
        suits=_is_classification,
    ),
)
