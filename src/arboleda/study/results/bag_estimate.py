"""The .632+ estimate of any metric, from bags, the training rows and chance scores.

Efron and Tibshirani (1997) estimate the mean of a loss. A metric becomes such a loss by its sign,
and the root mean squared error by its square; ``arboleda.model_selection`` contains the formula.
The bags' metrics are averaged with the numbers of out-of-bag rows as weights: the first of the two
forms of the leave-one-out bootstrap (Efron 1983), which for a mean of losses is the mean over all
pairs of a bag and an out-of-bag row.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from arboleda.model_selection import bootstrap_estimates
from arboleda.study.results.scoring import all_scores

__all__ = ["chance_scores", "plus_632"]

Floats = npt.NDArray[np.float64]

# Metrics where greater is better; all others are losses.
_GAINS = frozenset(
    ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "roc_auc", "average_precision", "r2")
)
# Maximum number of pairings of targets with predictions.
_SHIFTS = 50


def plus_632(
    metric: str, left_out: Sequence[float], weights: Sequence[int], training: float, chance: float
) -> float:
    """Compute the .632+ estimate of a metric.

    Parameters
    ----------
    metric : str
    left_out : sequence of float
        The metric on the out-of-bag rows of each bag.
    weights : sequence of int
        Numbers of out-of-bag rows.
    training : float
        The metric of a model fitted to all training rows, on these rows.
    chance : float
        The metric of predictions that are independent of the target.
    """
    losses = np.average([_loss(metric, value) for value in left_out], weights=weights)
    found = bootstrap_estimates(_loss(metric, training), float(losses), _loss(metric, chance))
    if metric == "rmse":
        return float(np.sqrt(found.plus_632))
    return -found.plus_632 if metric in _GAINS else found.plus_632


def _loss(metric: str, value: float) -> float:
    if metric == "rmse":
        return value**2
    return -value if metric in _GAINS else value


def chance_scores(
    y: npt.NDArray[np.generic],
    predicted: npt.NDArray[np.generic],
    score: Floats | None,
    n_classes: int,
    costs: Floats | None = None,
) -> dict[str, float | None]:
    """Compute every metric with predictions that are independent of the targets.

    It is the mean over evenly spaced shifts of the predictions against the targets; with all shifts
    every target is paired with every prediction.
    """
    n = len(y)
    shifts = np.unique(np.linspace(0, n, min(n, _SHIFTS), endpoint=False).astype(int))
    found = [
        all_scores(
            y,
            np.roll(predicted, s),
            None if score is None else np.roll(score, s, axis=0),
            n_classes,
            costs,
        )
        for s in shifts
    ]
    return {name: _mean(name, [scores[name] for scores in found]) for name in found[0]}


def _mean(metric: str, values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if metric == "rmse":
        return float(np.sqrt(np.mean(np.square(known))))
    return float(np.mean(known))
