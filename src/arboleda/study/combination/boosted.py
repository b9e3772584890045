r"""Stacking by boosting: trees fitted to the outputs of the first layer's models.

With p the members' outputs and m their weighted mean,

    (1 - s) m(p) + s b(p),

where b is small trees boosted on the logarithms of the members' probabilities (for two classes: on
their log-odds) or, in a regression, m plus trees boosted on the residuals of m. Trees detect where
members err together, which no mean can. Held-out rows determine the number of rounds and, if these
rows are many, the share s.

References
----------
D. H. Wolpert (1992), "Stacked generalization", Neural Networks 5; J. H. Friedman (2001), "Greedy
function approximation: a gradient boosting machine", Annals of Statistics 29(5).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.study.combination.rules import LinearRule, MeanRule, compute_losses
from arboleda.tables.target import n_scores

__all__ = [
    "MIN_PROBABILITY",
    "BoostedRule",
    "can_boost",
    "estimate_boosting_seconds",
    "fit_boosted_rule",
]

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[np.int64] | Floats
Boosting = HistGradientBoostingClassifier | HistGradientBoostingRegressor
# Probabilities are clipped to this minimum.
MIN_PROBABILITY = 1e-6
ROUNDS = 300
# Maximum cells for choosing the number of rounds by cross-validation instead of a holdout set.
MAX_CV_CELLS, FOLDS, PART = 800_000, 5, 0.1
# Minimum columns of a tree, so that it can split on one member and then on another.
FEWEST_COLUMNS = 4
# Minimum held-out rows to fit the share; with fewer it is a half.
SHARE_ROWS = 1_000
# Maximum training rows and cells.
MOST_ROWS, MOST_CELLS = 200_000, 160_000_000
# Minimum rows: with fewer, trees overfit the members' outputs; and the rows that must be used if
# the table has that many.
LEAST_ROWS, ENOUGH_ROWS = 200, 5_000
# Seconds of a round per cell (rows times columns times trees of a round), and the overheads of a
# row in columns and of a tree in rows.
CELL_SECONDS, ROW_COLUMNS, TREE_ROWS = 6e-10, 40, 1_500


@dataclass(frozen=True, eq=False)
class BoostedRule:
    """A mean of the members' outputs, and trees fitted to these outputs.

    Parameters
    ----------
    mean : MeanRule
    model : HistGradientBoostingClassifier or HistGradientBoostingRegressor
        Fitted to `make_columns` the outputs; it may know only some of the classes.
    share : float
        Weight of the trees, from 0 to 1.
    """

    kind: ClassVar[str] = "boosted"
    mean: MeanRule
    model: Boosting
    share: float

    def __call__(self, outputs: Floats) -> Floats:
        """Return one output per row, of shape (n_rows, n_classes) or (n_rows,)."""
        mean = self.mean(outputs)
        return np.asarray((1.0 - self.share) * mean + self.share * self.boosted(outputs, mean))

    def boosted(self, outputs: Floats, mean: Floats) -> Floats:
        """Return the trees' outputs, given those of the mean."""
        columns = make_columns(outputs, mean)
        if isinstance(self.model, HistGradientBoostingRegressor):
            return np.asarray(mean + self.model.predict(columns))
        p = np.zeros_like(mean)
        p[:, self.model.classes_] = self.model.predict_proba(columns)
        return p

    def shares(self, n_members: int) -> list[float]:
        """Return each member's weight: in the mean, and its part of the trees' gains."""
        gains = self.model.feature_importances_
        weights = np.asarray(self.mean.weights)
        if isinstance(self.model, HistGradientBoostingRegressor):
            # The rest belongs to the mean, which the trees correct.
            parts = gains[:-1] + (1.0 - gains[:-1].sum()) * weights
        else:
            parts = gains.reshape(n_members, -1).sum(axis=1)
        return [float(v) for v in (1.0 - self.share) * weights + self.share * parts]


def make_columns(outputs: Floats, mean: Floats) -> Floats:
    """Return the trees' input matrix, of shape (n_rows, n_columns).

    It holds for each member the log-odds of the second of two classes, or the logarithms of the
    probabilities of all classes; in a regression its difference to the mean, and the mean last.
    """
    if outputs.ndim == 2:
        return np.column_stack([(outputs - mean).T, mean])
    logs = np.log(np.clip(outputs, MIN_PROBABILITY, 1.0))
    return LinearRule.make_columns(logs - logs[:, :, :1] if outputs.shape[2] == 2 else logs)


def fit_boosted_rule(mean: MeanRule, outputs: Floats, target: Array, seed: int) -> BoostedRule:
    """Fit the boosted trees to the members' outputs.

    Parameters
    ----------
    mean : MeanRule
        The mean rule fitted to the same outputs.
    outputs : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
    target : ndarray of shape (n_rows,)
        Numbers of classes, or values.
    seed : int
    """
    cells = _count_row_cells(len(outputs), outputs.shape[2] if outputs.ndim == 3 else 0)
    rows = np.random.default_rng([seed, outputs.shape[1]]).permutation(outputs.shape[1])
    rows = rows[: _limit_rows(cells)]
    by_folds = _uses_cv_rounds(len(rows), cells)
    n_held = 0 if by_folds else round(PART * len(rows))
    learn, held = np.sort(rows[n_held:]), np.sort(rows[:n_held])
    if outputs.ndim == 3:  # the training rows hold all classes
        is_known = np.isin(target[held], target[learn])
        learn, held = np.sort(np.append(learn, held[~is_known])), held[is_known]
    x, y = _make_training_data(mean, outputs[:, learn], target[learn])
    kind = HistGradientBoostingRegressor if outputs.ndim == 2 else HistGradientBoostingClassifier
    model = kind(
        learning_rate=0.05,
        max_iter=ROUNDS,
        max_leaf_nodes=8,
        colsample_bytree=min(1.0, max(0.4, FEWEST_COLUMNS / x.shape[1])),
        l2_regularization=3.0,
        early_stopping=by_folds or len(held) > 0,
        validation_folds=FOLDS if by_folds else None,
        n_iter_no_change=20,
        tol=0.0,  # in a regression it would have the target's unit
        categorical_features=None,
        random_state=seed,
        n_jobs=1,
    )
    others = outputs[:, held]
    given: dict[str, Any] = {}
    if len(held):
        given["X_val"], given["y_val"] = _make_training_data(mean, others, target[held])
    model.fit(x, y, **given)
    rule = BoostedRule(mean, model, 0.5)
    if len(held) < SHARE_ROWS:
        return rule
    held_mean = mean(others)
    share = _choose_share(held_mean, rule.boosted(others, held_mean), target[held])
    return BoostedRule(mean, model, share)


def _make_training_data(mean: MeanRule, outputs: Floats, target: Array) -> tuple[Floats, Array]:
    """Return the trees' input matrix and target: classes, or residuals of the mean."""
    means = mean(outputs)
    return make_columns(outputs, means), target if outputs.ndim == 3 else target - means


def _choose_share(mean: Floats, boosted: Floats, target: Array) -> float:
    """Return the trees' weight, in tenths, with the smallest loss."""
    shares = np.linspace(0.0, 1.0, 11)
    mixed = np.stack([(1.0 - share) * mean + share * boosted for share in shares])
    return float(shares[np.argmin(compute_losses(mixed, target))])


def _count_row_cells(n_members: int, n_classes: int) -> int:
    """Return the cells of a row: columns times trees of a round."""
    n_trees = n_scores(n_classes)
    return n_trees * (n_members * n_trees + ROW_COLUMNS)


def _limit_rows(cells: int) -> int:
    return min(MOST_ROWS, MOST_CELLS // cells)


def _uses_cv_rounds(n_rows: int, cells: int) -> bool:
    return n_rows * cells <= MAX_CV_CELLS


def can_boost(n_members: int, n_rows: int, n_classes: int) -> bool:
    """Whether there are enough rows, and few enough outputs per row to use enough of them."""
    used = _limit_rows(_count_row_cells(n_members, n_classes))
    return n_rows >= LEAST_ROWS and used >= min(n_rows, ENOUGH_ROWS)


def estimate_boosting_seconds(n_members: int, n_rows: int, n_classes: int) -> float:
    """Estimate the seconds of one core to fit the trees once."""
    cells = _count_row_cells(n_members, n_classes)
    rows = min(n_rows, _limit_rows(cells))
    fits = 1 + FOLDS if _uses_cv_rounds(rows, cells) else 1
    return CELL_SECONDS * fits * ROUNDS * (rows + TREE_ROWS) * cells
