r"""A second layer of trees: boosting learns from what the models of the first say.

With p the members' answers and m their weighted mean,

    (1 - s) m(p) + s b(p),

where b is small trees boosted on the logarithms of the members' probabilities (of two classes: on
their log-odds), or, of values, m plus trees boosted on what m leaves over. Trees see where members
err together, which no mean can. Rows that they do not learn from tell the number of rounds and,
where these rows are many, the share s.

References
----------
D. H. Wolpert (1992), "Stacked generalization", Neural Networks 5; J. H. Friedman (2001), "Greedy
function approximation: a gradient boosting machine", Annals of Statistics 29(5).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.study.combined.losses import losses
from arboleda.study.combined.rules import LinearRule, MeanRule
from arboleda.study.results.probabilities import n_scores

__all__ = ["LEAST_SAID", "BoostedRule", "boosted_rule", "can_boost", "seconds_of_boosting"]

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[np.int64] | Floats
Boosting = HistGradientBoostingClassifier | HistGradientBoostingRegressor
# Probabilities below it are as good as none.
LEAST_SAID = 1e-6
ROUNDS = 300
# Cells up to which folds of all rows tell the number of rounds, and not a part of the rows.
JUDGED_CELLS, FOLDS, PART = 3_000_000, 5, 0.1
# Columns that a tree has at least, so that it may ask one member and then another.
FEWEST_COLUMNS = 4
# Rows that it takes to tell the share; with fewer it is a half.
SHARE_ROWS = 1_000
# Rows and cells that are learned from at most.
MOST_ROWS, MOST_CELLS = 200_000, 160_000_000
# With fewer rows trees learn the members' answers by heart; where the table has as many as the
# second number, it takes so many.
LEAST_ROWS, ENOUGH_ROWS = 200, 5_000
# Seconds of a round for each cell: rows times columns times trees of a round. A row counts as some
# columns besides, a tree as some rows.
CELL_SECONDS, ROW_COLUMNS, TREE_ROWS = 6e-10, 40, 1_500


@dataclass(frozen=True, eq=False)
class BoostedRule:
    """A mean of the members' answers, and trees that have learned from these answers.

    Parameters
    ----------
    mean : MeanRule
    model : HistGradientBoostingClassifier or HistGradientBoostingRegressor
        Fitted to `columns_of` answers; it may know fewer classes than there are.
    share : float
        How much the trees count, from 0 to 1.
    """

    kind: ClassVar[str] = "boosted"
    mean: MeanRule
    model: Boosting
    share: float

    def __call__(self, outputs: Floats) -> Floats:
        """One answer for each row: of shape (n_rows, n_classes) or (n_rows,)."""
        mean = self.mean(outputs)
        return np.asarray((1.0 - self.share) * mean + self.share * self.boosted(outputs, mean))

    def boosted(self, outputs: Floats, mean: Floats) -> Floats:
        """What the trees say, given what the mean does."""
        columns = columns_of(outputs, mean)
        if isinstance(self.model, HistGradientBoostingRegressor):
            return np.asarray(mean + self.model.predict(columns))
        said = np.zeros_like(mean)
        said[:, self.model.classes_] = self.model.predict_proba(columns)
        return said

    def shares(self, n_members: int) -> list[float]:
        """How much each member counts: its weight in the mean, and its part in the trees' gains."""
        gains = self.model.feature_importances_
        weights = np.asarray(self.mean.weights)
        if isinstance(self.model, HistGradientBoostingRegressor):
            # The rest is the mean's own: the trees correct it.
            parts = gains[:-1] + (1.0 - gains[:-1].sum()) * weights
        else:
            parts = gains.reshape(n_members, -1).sum(axis=1)
        return [float(v) for v in (1.0 - self.share) * weights + self.share * parts]


def columns_of(outputs: Floats, mean: Floats) -> Floats:
    """What trees learn from, of shape (n_rows, n_columns).

    Of each member the log-odds of the second of two classes, or the logarithms of the probabilities
    of all; of values what it says more than the mean, and the mean at the end.
    """
    if outputs.ndim == 2:
        return np.column_stack([(outputs - mean).T, mean])
    logs = np.log(np.clip(outputs, LEAST_SAID, 1.0))
    return LinearRule.columns_of(logs - logs[:, :, :1] if outputs.shape[2] == 2 else logs)


def boosted_rule(mean: MeanRule, outputs: Floats, target: Array, seed: int) -> BoostedRule:
    """Boost trees on answers.

    Parameters
    ----------
    mean : MeanRule
        Learned from the same.
    outputs : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
    target : ndarray of shape (n_rows,)
        Numbers of classes, or values.
    seed : int
    """
    cells = _row_cells(len(outputs), outputs.shape[2] if outputs.ndim == 3 else 0)
    rows = np.random.default_rng([seed, outputs.shape[1]]).permutation(outputs.shape[1])
    rows = rows[: _most_rows(cells)]
    by_folds = _is_judged_by_folds(len(rows), cells)
    n_held = 0 if by_folds else round(PART * len(rows))
    learn, held = np.sort(rows[n_held:]), np.sort(rows[:n_held])
    if outputs.ndim == 3:  # all classes are learned
        is_known = np.isin(target[held], target[learn])
        learn, held = np.sort(np.append(learn, held[~is_known])), held[is_known]
    x, y = _task(mean, outputs[:, learn], target[learn])
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
        tol=0.0,  # of values it would have their unit
        categorical_features=None,
        random_state=seed,
        n_jobs=1,
    )
    others = outputs[:, held]
    given: dict[str, Array] = {}
    if len(held):
        given["X_val"], given["y_val"] = _task(mean, others, target[held])
    model.fit(x, y, **given)
    rule = BoostedRule(mean, model, 0.5)
    if len(held) < SHARE_ROWS:
        return rule
    said = mean(others)
    return BoostedRule(mean, model, _best_share(said, rule.boosted(others, said), target[held]))


def _task(mean: MeanRule, outputs: Floats, target: Array) -> tuple[Floats, Array]:
    """What trees learn from, and what they learn: classes, or what the mean leaves over."""
    said = mean(outputs)
    return columns_of(outputs, said), target if outputs.ndim == 3 else target - said


def _best_share(mean: Floats, boosted: Floats, target: Array) -> float:
    """The tenths of the trees' answer with which the two together are best."""
    shares = np.linspace(0.0, 1.0, 11)
    mixed = np.stack([(1.0 - share) * mean + share * boosted for share in shares])
    return float(shares[np.argmin(losses(mixed, target))])


def _row_cells(n_members: int, n_classes: int) -> int:
    """Cells of a row: columns, times trees of a round."""
    n_trees = n_scores(n_classes)
    return n_trees * (n_members * n_trees + ROW_COLUMNS)


def _most_rows(cells: int) -> int:
    return min(MOST_ROWS, MOST_CELLS // cells)


def _is_judged_by_folds(n_rows: int, cells: int) -> bool:
    return n_rows * cells <= JUDGED_CELLS


def can_boost(n_members: int, n_rows: int, n_classes: int) -> bool:
    """Whether there are rows enough, and so few answers for each that enough rows are used."""
    used = _most_rows(_row_cells(n_members, n_classes))
    return n_rows >= LEAST_ROWS and used >= min(n_rows, ENOUGH_ROWS)


def seconds_of_boosting(n_members: int, n_rows: int, n_classes: int) -> float:
    """About how many seconds of one core it takes to learn the trees once."""
    cells = _row_cells(n_members, n_classes)
    rows = min(n_rows, _most_rows(cells))
    fits = 1 + FOLDS if _is_judged_by_folds(rows, cells) else 1
    return CELL_SECONDS * fits * ROUNDS * (rows + TREE_ROWS) * cells
