"""LIME: a sparse linear model of any estimator's predictions around one row.

Ribeiro, M. T., Singh, S., Guestrin, C. (2016), '"Why should I trust you?" Explaining the
predictions of any classifier', KDD.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda._utils.number_types import is_real
from arboleda._utils.results import NotebookDisplay
from arboleda.explain._lime_explanation import LimeExplanation
from arboleda.explain._lime_sampling import (
    ColumnView,
    LinearSurrogate,
    Moments,
    Sampler,
    choose_columns,
    fit_columns,
    floor_power_of_two,
    view_columns,
)
from arboleda.explain._outputs import OutputReader, Outputs, make_output_reader
from arboleda.explain._rows import MAX_ROWS, TableRows, as_one_row, read_rows

__all__ = ["Lime", "lime"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_WIDTH = 0.75  # kernel width divided by the square root of the number of columns


class Lime(NotebookDisplay):
    """Explainer of single rows, as returned by `lime`.

    Parameters
    ----------
    reader : OutputReader
        Computes the estimator's outputs.
    rows : TableRows
        The training rows.
    views : list of ColumnView
        Representation of each column.
    n_samples : int
    kernel_width : float
    seed : int
    """

    def __init__(
        self,
        reader: OutputReader,
        rows: TableRows,
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

    def _summarize(self) -> dict[str, Any]:
        return {
            "estimator": type(self._reader.estimator).__name__,
            "features": self._rows.names,
            "n_samples": self._n_samples,
            "kernel_width": self._kernel_width,
        }

    def explain(
        self, row: Any, *, output: Any = None, n_features: int = 10, n_repeats: int = 5
    ) -> LimeExplanation:
        """Explain the estimator's prediction for one row.

        Parameters
        ----------
        row : table of one row, or array-like, Series or mapping of shape (n_features,)
            The row, with the columns of the training rows.
        output : object, default=None
            The output to explain: a class, or the index of a regressor's target. None: the
            predicted class, or the first target.
        n_features : int, default=10
            Maximum number of columns in the explanation.
        n_repeats : int, default=5
            Number of samples of ``n_samples`` rows. The explanation uses all of them; their
            differences give the stability and the standard errors of the weights.

        Returns
        -------
        LimeExplanation
            Deterministic for a given row: it does not depend on earlier calls.

        Raises
        ------
        ValueError
            If there is more than one row, the columns are not those of training, the output does
            not exist, or the kernel is so narrow that too few samples have weight.
        """
        _check_count("n_features", n_features, 1)
        _check_count("n_repeats", n_repeats, 1)
        one = as_one_row(row, self._rows, self._reader.estimator)
        outputs = self._reader(one.native)
        explained = _find_output(output, outputs)
        values, labels = _read_values(one, self._rows)
        prediction = float(outputs.values[0, explained])
        unit, repeats = self._draw_repeats(values, explained, prediction, n_repeats)
        pooled_moments = Moments.combine(repeats)
        self._check_enough(pooled_moments, n_features)
        fitted = fit_columns(pooled_moments, choose_columns(pooled_moments, n_features))
        spread = _compute_standard_error(repeats, fitted.columns)
        order = np.argsort(-np.abs(fitted.weights), kind="stable")
        features = fitted.columns[order]
        known = outputs.kind in ("probability", "vote")
        return LimeExplanation(
            conditions=[self._views[j].condition(values[j], labels[j]) for j in features.tolist()],
            weights=fitted.weights[order] * unit,
            feature_names=tuple(self._rows.names[j] for j in features.tolist()),
            features=features,
            intercept=prediction + fitted.intercept * unit,
            class_names=outputs.names if known else None,
            probabilities=outputs.values[0] if known else None,
            output_name=outputs.names[explained],
            prediction=prediction,
            local_prediction=prediction + self._predict_at_row(fitted, values) * unit,
            fidelity=fitted.fidelity,
            stability=_compute_stability(repeats, n_features),
            standard_error=None if spread is None else spread[order] * unit,
        )

    def _draw_repeats(
        self, values: Floats, explained: int, prediction: float, n_repeats: int
    ) -> tuple[float, list[Moments]]:
        """Compute the moments of each repeat, with differences from the row's prediction.

        The differences are rescaled to about unit size so that their squares do not overflow.
        """
        sampler = Sampler(self._rows, self._views, values)
        unit, found = 0.0, []
        for repeat in range(n_repeats):
            random = np.random.default_rng([self._seed, repeat])
            parts = []
            for start in range(0, self._n_samples, MAX_ROWS):
                sample = sampler.draw(min(MAX_ROWS, self._n_samples - start), random)
                outputs = self._reader(sample.table).values[:, explained]
                unit = unit or floor_power_of_two(max(np.abs(outputs).max(), abs(prediction)))
                change = outputs / unit - prediction / unit
                exponent = -sample.squared_distance / (2.0 * self._kernel_width**2)
                parts.append(Moments.compute(sample.columns, change, np.exp(exponent)))
            found.append(Moments.combine(parts))
        return unit, found

    def _check_enough(self, pooled_moments: Moments, n_features: int) -> None:
        needed = 2 * (min(n_features, self._rows.n_columns) + 1)
        if pooled_moments.n_effective < needed:
            raise ValueError(
                f"kernel_width={self._kernel_width:.4g} leaves an effective sample size of "
                f"{pooled_moments.n_effective:.3g}, too small for "
                f"{min(n_features, self._rows.n_columns)} columns: increase kernel_width or "
                "n_samples, or decrease n_features"
            )

    def _predict_at_row(self, fitted: LinearSurrogate, values: Floats) -> float:
        """Return the linear model's prediction for the row, whose conditions all hold."""
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
    """Prepare to explain single rows by local linear models of an estimator's predictions.

    Rows are sampled around the row to explain, and the estimator predicts each of them. A linear
    model of a few columns is fitted to the predictions by least squares, with weights that decrease
    with the distance d from the row: ``exp(-d^2 / (2 width^2))``. Columns are selected one by one,
    each time the one that increases the weighted R2 most (forward selection).

    Parameters
    ----------
    estimator : estimator
        Any fitted classifier or regressor. For a classifier, probabilities are explained; if it has
        none, margins, or else votes.
    X_train : array-like, frame or sparse matrix of shape (n_rows, n_features)
        Rows that column values are sampled from: the training rows, or a representative sample.
    discretize : {"quartiles", None}, default="quartiles"
        Representation of numbers in the linear model. "quartiles": an indicator that the value lies
        between the same quartiles of the training rows as the row's. None: the difference from the
        row's value in standard deviations of the training rows. In either case, categories are
        represented by an indicator of the row's category, and missing values by an indicator of
        missingness.
    n_samples : int, default=5000
        Number of rows sampled in one repeat. The standard error of a weight decreases with the
        square root of the total number of rows; five repeats of 5,000 leave one or two hundredths
        of the standard deviation of the predictions, less than a bar's width in a figure.
    kernel_width : float, default=None
        The width in the weights. None: ``0.75 sqrt(n_features)``, which grows with the distances
        between random rows, so that a sample at the usual distance has about half the weight of one
        equal to the row. Smaller is more local, with a smaller effective sample size.
    categorical_features : array-like of bool, int or str, default=None
        Categorical columns, in addition to those recognized by dtype or values.
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
        If the estimator is not an estimator.
    NotFittedError
        If it is not fitted.

    Notes
    -----
    The columns of a sample are drawn independently of each other. With quartiles, and for
    categories and missing values, each is drawn from the values of the training rows, so that it
    meets the row's condition as often as they do; integers stay integers, and only observed values
    occur. With ``discretize=None``, numbers are normally distributed around the row's value with
    the column's standard deviation, and the linear model is the local slope. The row itself is not
    among the samples: a category that the training rows lack has no weight.

    If columns are strongly dependent, independent draws produce unrealistic rows, and the
    estimator's predictions for them influence the explanation: Slack et al. (2020) show how this
    can be exploited. Weights describe the linear model, not causal effects.

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
        raise ValueError(f'discretize must be "quartiles" or None, got {discretize!r}')
    _check_count("n_samples", n_samples, 10)
    reader = make_output_reader(estimator)
    rows = read_rows(X_train, estimator, categorical_features)
    width = _WIDTH * float(np.sqrt(rows.n_columns)) if kernel_width is None else kernel_width
    if isinstance(width, bool) or not is_real(width) or not 0 < width < np.inf:
        raise ValueError(f"kernel_width must be a positive number or None, got {kernel_width!r}")
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    views = view_columns(rows, quartiles=discretize == "quartiles")
    return Lime(reader, rows, views, int(n_samples), float(width), seed)


def _check_count(name: str, count: Any, least: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {count!r}")


def _find_output(output: Any, outputs: Outputs) -> int:
    """Return the index of the output to explain."""
    if output is None:
        if outputs.classes is None or len(outputs.names) == 1:
            return 0
        return int(outputs.values[0].argmax())
    if outputs.classes is None:
        wanted = output
        if isinstance(wanted, str) and wanted in outputs.names:
            return outputs.names.index(wanted)
        if isinstance(wanted, int | np.integer) and 0 <= wanted < len(outputs.names):
            return int(wanted)
    else:
        found = np.flatnonzero(outputs.classes == output)
        if not found.size:
            found = np.flatnonzero(np.array(outputs.names) == str(output))
        if found.size:
            return int(found[0])
    raise ValueError(
        f"output={output!r} is not an output of the estimator: give one of "
        f"{', '.join(outputs.names)}"
    )


def _read_values(one: TableRows, training: TableRows) -> tuple[Floats, list[Any]]:
    """Return a row's values, with the category codes of the training rows, and its labels."""
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


def _compute_stability(repeats: list[Moments], n_features: int) -> float | None:
    """Return the mean Jaccard index of the columns selected by pairs of repeats."""
    if len(repeats) < 2:
        return None
    chosen = [set(choose_columns(moments, n_features).tolist()) for moments in repeats]
    shared = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(chosen, 2)]
    return float(np.mean(shared))


def _compute_standard_error(
    repeats: list[Moments], features: npt.NDArray[np.intp]
) -> Floats | None:
    if len(repeats) < 2:
        return None
    weights = np.array([fit_columns(moments, features).weights for moments in repeats])
    spread: Floats = weights.std(axis=0, ddof=1) / np.sqrt(len(repeats))
    return spread
