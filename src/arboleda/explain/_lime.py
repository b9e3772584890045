"""LIME: a sparse linear model of what any estimator says around one row.

Ribeiro, M. T., Singh, S., Guestrin, C. (2016), '"Why should I trust you?" Explaining the
predictions of any classifier', KDD.
"""

from __future__ import annotations

from itertools import combinations
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda.explain._lime_explanation import LimeExplanation
from arboleda.explain._lime_sample import ColumnView, Sampler, view_columns
from arboleda.explain._linear_surrogate import LinearSurrogate, Moments, choose_columns, fit_columns
from arboleda.explain._one_row import as_one_row
from arboleda.explain._outputs import OutputReader, Outputs, output_reader
from arboleda.explain._rows import MOST_ROWS, Rows, read_rows
from arboleda.explain._units import power_of_two

__all__ = ["Lime", "lime"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_WIDTH = 0.75  # kernel width, in square roots of the number of columns


class Lime:
    """Explains rows one by one: see `lime`, which makes it.

    Parameters
    ----------
    reader : OutputReader
        Asks the estimator.
    rows : Rows
        The training rows.
    views : list of ColumnView
        How each column is seen.
    n_samples : int
    kernel_width : float
    seed : int
    """

    def __init__(
        self,
        reader: OutputReader,
        rows: Rows,
        views: list[ColumnView],
        n_samples: int,
        kernel_width: float,
        seed: int,
    ) -> None:
        self._reader = reader
        self._rows = rows
        self._views = views
        self._n_samples = n_samples
        self._kernel_width = kernel_width
        self._seed = seed

    def explain(
        self, row: Any, *, output: Any = None, n_features: int = 10, n_repeats: int = 5
    ) -> LimeExplanation:
        """Explain what the estimator says of one row.

        Parameters
        ----------
        row : table of one row, or array-like, Series or mapping of shape (n_features,)
            With the columns of the training rows.
        output : object, default=None
            Which answer to explain: a class, or the number of a regressor's target. None: the
            class predicted, or the first target.
        n_features : int, default=10
            Columns in the explanation, at most.
        n_repeats : int, default=5
            Samples of ``n_samples`` rows. The explanation is that of all of them together; how they
            differ gives its stability and the weights' standard errors.

        Returns
        -------
        LimeExplanation
            The same for the same row: it does not depend on what was explained before.

        Raises
        ------
        ValueError
            If there are more rows than one, other columns than in training, no such output, or the
            kernel is so narrow that it leaves too few samples.
        """
        _check_count("n_features", n_features, 1)
        _check_count("n_repeats", n_repeats, 1)
        one = as_one_row(row, self._rows, self._reader.estimator)
        said = self._reader(one.native)
        explained = _place_of_output(output, said)
        values, labels = _values_of(one, self._rows)
        answer = float(said.values[0, explained])
        unit, repeats = self._repeats(values, explained, answer, n_repeats)
        together = Moments.pooled(repeats)
        self._check_enough(together, n_features)
        fitted = fit_columns(together, choose_columns(together, n_features))
        spread = _standard_error(repeats, fitted.columns)
        order = np.argsort(-np.abs(fitted.weights), kind="stable")
        features = fitted.columns[order]
        known = said.kind in ("probability", "vote")
        return LimeExplanation(
            conditions=[self._views[j].condition(values[j], labels[j]) for j in features.tolist()],
            weights=fitted.weights[order] * unit,
            feature_names=tuple(self._rows.names[j] for j in features.tolist()),
            features=features,
            intercept=answer + fitted.intercept * unit,
            class_names=said.names if known else None,
            probabilities=said.values[0] if known else None,
            output_name=said.names[explained],
            prediction=answer,
            local_prediction=answer + self._at_the_row(fitted, values) * unit,
            fidelity=fitted.fidelity,
            stability=_stability(repeats, n_features),
            standard_error=None if spread is None else spread[order] * unit,
        )

    def _repeats(
        self, values: Floats, explained: int, answer: float, n_repeats: int
    ) -> tuple[float, list[Moments]]:
        """Moments of each repeat, with the answers' differences from that for the row.

        The differences are in a unit of about the answers' size, so that their squares are numbers.
        """
        sampler = Sampler(self._rows, self._views, values)
        unit, found = 0.0, []
        for repeat in range(n_repeats):
            random = np.random.default_rng([self._seed, repeat])
            parts = []
            for start in range(0, self._n_samples, MOST_ROWS):
                sample = sampler.draw(min(MOST_ROWS, self._n_samples - start), random)
                said = self._reader(sample.table).values[:, explained]
                unit = unit or power_of_two(max(np.abs(said).max(), abs(answer)))
                change = said / unit - answer / unit
                exponent = -sample.squared_distance / (2.0 * self._kernel_width**2)
                parts.append(Moments.of(sample.columns, change, np.exp(exponent)))
            found.append(Moments.pooled(parts))
        return unit, found

    def _check_enough(self, together: Moments, n_features: int) -> None:
        needed = 2 * (min(n_features, self._rows.n_columns) + 1)
        if together.n_effective < needed:
            raise ValueError(
                f"kernel_width={self._kernel_width:.4g} leaves as much as "
                f"{together.n_effective:.3g} of the samples, too few for "
                f"{min(n_features, self._rows.n_columns)} columns: raise kernel_width or n_samples,"
                " or ask for fewer n_features"
            )

    def _at_the_row(self, fitted: LinearSurrogate, values: Floats) -> float:
        """Return the linear model's answer for the row: its conditions hold, its numbers stay."""
        holds = [
            self._views[j].scale == 0.0 or np.isnan(values[j]) for j in fitted.columns.tolist()
        ]
        return fitted.intercept + float(fitted.weights @ np.array(holds, dtype=np.float64))


def lime(
    estimator: Any,
    X_train: Any,
    *,
    discretize: Literal["quartiles"] | None = "quartiles",
    n_samples: int = 5000,
    kernel_width: float | None = None,
    categorical_features: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> Lime:
    """Prepare to explain single rows by linear models of what an estimator says around them.

    Rows are drawn around the one to explain and the estimator is asked about each. A linear model
    of a few columns is then fitted to its answers, by least squares with weights that fall with the
    distance d from the row: ``exp(-d^2 / (2 width^2))``. The columns are chosen one by one, each
    time the one that raises the weighted R2 most (forward selection).

    Parameters
    ----------
    estimator : estimator
        Fitted: any classifier or regressor. A classifier is asked for probabilities; one without
        them for margins, or else for its votes.
    X_train : array-like, frame or sparse matrix of shape (n_rows, n_features)
        Rows that columns are drawn from: the training rows, or as many as tell their distribution.
    discretize : {"quartiles", None}, default="quartiles"
        How the linear model sees a number. "quartiles": whether it lies between the same quartiles
        of the training rows as the row's. None: by how many standard deviations of the training
        rows it is above the row's. A column of categories is seen by whether it is the row's
        category, a missing value by whether it is missing, in either case.
    n_samples : int, default=5000
        Rows drawn in one repeat. The standard error of a weight falls with the square root of all
        rows drawn; five repeats of 5,000 leave one or two hundredths of the standard deviation of
        the answers, which is less than a bar's width in a figure.
    kernel_width : float, default=None
        The width in the weights. None: ``0.75 sqrt(n_features)``, which grows with the distances
        between rows drawn at random, so that a sample at the usual distance weighs about half of
        one like the row. Smaller is more local, and leaves fewer samples that count.
    categorical_features : array-like of bool, int or str, default=None
        Columns that hold categories, beside those whose type or values say so.
    random_state : int, RandomState or None, default=None
        Seed of the samples.

    Returns
    -------
    Lime
        Its `explain` takes a row and returns a `LimeExplanation`.

    Raises
    ------
    ValueError
        If a parameter is out of range, or X_train holds no rows or an infinite value.
    TypeError
        If the estimator is none.
    NotFittedError
        If it is not fitted.

    Notes
    -----
    The columns of a sample are drawn independently of each other. With quartiles, and for
    categories and missing values, each is drawn from the values of the training rows, so that it
    meets the row's condition as often as they do; whole numbers stay whole, and no value occurs
    that the column never had. With ``discretize=None`` numbers are normal about the row's, with the
    column's standard deviation, and the linear model is the local slope. The row itself is not
    among the samples: a category that the training rows lack has no weight.

    Where columns are strongly related, independent draws make rows that do not exist, and the
    estimator's answers about them count: Slack et al. (2020) show how much can hide there. Weights
    are of the linear model, not causes.

    References
    ----------
    Ribeiro, M. T., Singh, S., Guestrin, C. (2016), '"Why should I trust you?" Explaining the
    predictions of any classifier', KDD. Slack, D., Hilgard, S., Jia, E., Singh, S., Lakkaraju, H.
    (2020), "Fooling LIME and SHAP", AIES. On stability: Visani, G. et al. (2022), "Statistical
    stability indices for LIME", Journal of the Operational Research Society 73.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboleda import RandomForestClassifier
    >>> from arboleda.explain import lime
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> found = lime(forest, X, random_state=0).explain(X.iloc[[0]], n_features=2)
    >>> found.conditions
    ['petal length (cm) <= 1.6', 'petal width (cm) <= 0.3']
    >>> found.output_name, found.weights.round(2).tolist()
    ('0', [0.43, 0.43])
    """
    if discretize not in ("quartiles", None):
        raise ValueError(f'discretize={discretize!r} must be "quartiles" or None')
    _check_count("n_samples", n_samples, 10)
    reader = output_reader(estimator)
    rows = read_rows(X_train, estimator, categorical_features)
    width = _WIDTH * float(np.sqrt(rows.n_columns)) if kernel_width is None else kernel_width
    if isinstance(width, bool) or not isinstance(width, Real) or not 0 < width < np.inf:
        raise ValueError(f"kernel_width={kernel_width!r} must be a positive number, or None")
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    views = view_columns(rows, quartiles=discretize == "quartiles")
    return Lime(reader, rows, views, int(n_samples), float(width), seed)


def _check_count(name: str, count: Any, least: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
        raise ValueError(f"{name}={count!r} must be a whole number of at least {least}")


def _place_of_output(output: Any, said: Outputs) -> int:
    """Return the column of the answers that is explained."""
    if output is None:
        if said.classes is None or len(said.names) == 1:
            return 0
        return int(said.values[0].argmax())
    if said.classes is None:
        wanted = output
        if isinstance(wanted, str) and wanted in said.names:
            return said.names.index(wanted)
        if isinstance(wanted, int | np.integer) and 0 <= wanted < len(said.names):
            return int(wanted)
    else:
        found = np.flatnonzero(said.classes == output)
        if not found.size:
            found = np.flatnonzero(np.array(said.names) == str(output))
        if found.size:
            return int(found[0])
    raise ValueError(
        f"output={output!r} is none of the estimator's answers: {', '.join(said.names)}"
    )


def _values_of(one: Rows, training: Rows) -> tuple[Floats, list[Any]]:
    """Return a row's numbers and codes as the training rows have them, and its labels."""
    values = np.empty(one.n_columns)
    labels: list[Any] = []
    for j in range(one.n_columns):
        if not training.categorical[j]:
            values[j] = one.values(j)[0]
            labels.append(None)
            continue
        own = one.levels(j)
        label = own[0] if own else None
        levels = training.levels(j)
        if label is None:
            values[j] = np.nan
        else:
            values[j] = levels.index(label) if label in levels else len(levels)
        labels.append(label)
    return values, labels


def _stability(repeats: list[Moments], n_features: int) -> float | None:
    """Return the mean Jaccard index of the columns that pairs of repeats choose."""
    if len(repeats) < 2:
        return None
    chosen = [set(choose_columns(moments, n_features).tolist()) for moments in repeats]
    shared = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(chosen, 2)]
    return float(np.mean(shared))


def _standard_error(repeats: list[Moments], features: npt.NDArray[np.intp]) -> Floats | None:
    if len(repeats) < 2:
        return None
    weights = np.array([fit_columns(moments, features).weights for moments in repeats])
    spread: Floats = weights.std(axis=0, ddof=1) / np.sqrt(len(repeats))
    return spread
