"""Scores of every round on several named sets of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from arboleda.boosting._round_monitor import make_ensemble_scorer

Floats = npt.NDArray[np.float64]
Scoring = str | Callable[..., float] | None
Scorings = Scoring | Sequence[Scoring]
EvalSet = Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]]
EvalScores = dict[str, dict[str, Floats]]


class EvalsResult:
    """Mixin with the method `evals_result`."""

    def evals_result(
        self,
        eval_set: EvalSet,
        scoring: Scorings = None,
    ) -> EvalScores:
        """Score each round on several sets of rows by several metrics.

        Each set is predicted once, whatever the number of rounds and metrics. Sets do not take part
        in the fit; early stopping uses ``X_val`` and ``y_val`` of `fit`. With the argument
        ``eval_set``, `fit` of the estimators with histograms, except the ranker, calls this method
        at its end.

        Parameters
        ----------
        eval_set : mapping of str to (X, y) or (X, y, sample_weight), or sequence of such tuples
            The sets by name; those of a sequence are called "valid_0", "valid_1", .., and a single
            tuple "valid_0".
        scoring : str, callable, None, or list of them, default=None
            Names of scikit-learn's scorers or callables ``scorer(estimator, X, y)``; None is the
            method `score`. Greater is better.

        Returns
        -------
        scores : dict of str to dict of str to ndarray of shape (n_rounds,)
            By set and metric: the scores after 1, 2, .. rounds.

        Raises
        ------
        ValueError
            If a set is not such a tuple, or scikit-learn has no scorer of a name.

        Examples
        --------
        >>> from arboleda import HistGradientBoostingRegressor
        >>> X = [[0.0], [1.0], [2.0], [3.0]] * 20
        >>> y = [0.0, 0.0, 5.0, 5.0] * 20
        >>> model = HistGradientBoostingRegressor(max_iter=3).fit(X, y)
        >>> scores = model.evals_result({"train": (X, y)}, ["r2", "neg_mean_absolute_error"])
        >>> scores["train"]["r2"].round(2).tolist()
        [0.19, 0.34, 0.47]
        """
        check_is_fitted(self)
        return Evaluation.read(self, eval_set, scoring).score_rounds(self)


@dataclass(frozen=True)
class Evaluation:
    """Sets of rows, and the metrics to score them by.

    Parameters
    ----------
    sets : dict of str to (X, y) or (X, y, sample_weight)
    scorers : dict of str to callable
        Scikit-learn's scorers by the names of the metrics.
    """

    sets: dict[str, Sequence[Any]]
    scorers: dict[str, Any]

    @classmethod
    def read(cls, model: Any, eval_set: EvalSet, scoring: Scorings) -> Self:
        """Check sets and metrics, of a model that need not be fitted yet.

        Raises
        ------
        ValueError
            As `evals_result`.
        """
        if isinstance(eval_set, tuple) and eval_set and not isinstance(eval_set[0], tuple):
            eval_set = [eval_set]
        if not isinstance(eval_set, Mapping):
            eval_set = {f"valid_{i}": part for i, part in enumerate(eval_set)}
        for name, part in eval_set.items():
            if not isinstance(part, list | tuple) or len(part) not in {2, 3}:
                raise ValueError(
                    "eval_set must hold tuples (X, y) or (X, y, sample_weight), but "
                    f"{name!r} is a {type(part).__name__}"
                )
        metrics: list[Any] = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
        scorers = {_name_metric(metric): check_scoring(model, metric) for metric in metrics}
        return cls(dict(eval_set), scorers)

    def score_rounds(self, model: Any) -> EvalScores:
        """Return the scores after 1, 2, .. rounds of a fitted model, by set and metric."""
        return {
            name: dict(zip(self.scorers, self._score_set(model, part), strict=True))
            for name, part in self.sets.items()
        }

    def _score_set(self, model: Any, part: Sequence[Any]) -> Floats:
        """Return the scores of a set, of shape (n_metrics, n_rounds)."""
        X, y, weight = (*part, None)[:3]
        score_raw = [
            make_ensemble_scorer(model, scorer, X, y, weight) for scorer in self.scorers.values()
        ]
        rounds = [[score(raw) for score in score_raw] for raw in model._staged_raw_scores(X)]
        return np.array(rounds, dtype=np.float64).reshape(-1, len(score_raw)).T


def _name_metric(metric: Scoring) -> str:
    if metric is None:
        return "score"
    return metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
