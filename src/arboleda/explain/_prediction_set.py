"""Prediction sets for any classifier that contain the true class with a given probability."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda._utils.results import NotebookDisplay
from arboleda.explain._conformal import (
    COVERAGES,
    Codes,
    Flags,
    Floats,
    Method,
    Sets,
    as_native_table,
    compute_limit,
    compute_rank,
    compute_scores,
    encode_labels,
    read_coverage,
    read_coverages,
    read_pair,
    unwrap_pipeline,
    warn_few_rows,
)
from arboleda.explain._coverage_curve import CoverageCurve
from arboleda.explain._outputs import OutputReader, make_output_reader
from arboleda.forest import ForestModel

__all__ = ["PredictionSet", "compute_oob_probabilities", "prediction_set"]

Array = npt.NDArray[Any]


def compute_oob_probabilities(estimator: Any, X: Any, y: Array) -> tuple[Floats, Array]:
    """Return out-of-bag probabilities and labels of the training rows that have them."""
    last, table = unwrap_pipeline(estimator, X)
    if isinstance(last, ForestModel):
        found = last._training_rows(table, y).mean_votes()
    else:
        kept = getattr(last, "oob_decision_function_", None)
        if kept is None:
            raise ValueError(
                f"{type(last).__name__} has no out-of-bag predictions: fit a forest or bagging "
                "with oob_score=True, or give calibration=(X, y)"
            )
        found = np.asarray(kept, dtype=np.float64)
        if len(found) != len(y):
            raise ValueError(
                f"training has {len(y)} rows, but {type(last).__name__} was fitted on "
                f"{len(found)}: give its training rows in their original order"
            )
    is_out_of_bag = found.sum(axis=1) > 0.5  # scikit-learn's forests store 0 for other rows
    if not is_out_of_bag.any():
        raise ValueError("no row is out of bag for any member: use more members")
    return found[is_out_of_bag], y[is_out_of_bag]


@dataclass(frozen=True, eq=False, repr=False)
class PredictionSet(NotebookDisplay):
    """A calibrated classifier that predicts sets of classes, as returned by `prediction_set`.

    Attributes
    ----------
    method : {"lac", "aps"}
        Score of the classes.
    coverage : float
        Default share of rows to be covered by `predict`.
    classes : ndarray of shape (n_classes,)
    by_class : bool
        Whether every class has its own limit.
    out_of_bag : bool
        Whether the calibration used out-of-bag probabilities of the training rows.
    reader : callable
        Computes the classifier's probabilities.
    scores : tuple of ndarray
        Sorted scores of the calibration rows: of all of them, or by class.
    seed : int or None
        Seed of randomized scores; None: not randomized.
    """

    method: Method
    coverage: float
    classes: Array
    by_class: bool
    out_of_bag: bool
    reader: OutputReader
    scores: tuple[Floats, ...]
    seed: int | None

    def _summarize(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "classes": self.classes.tolist(),
            "coverage": self.coverage,
            "n_rows": self.n_rows,
        }

    @property
    def n_rows(self) -> int:
        """Number of rows whose scores determine the limits."""
        return sum(map(len, self.scores))

    @property
    def guaranteed_coverage(self) -> float | None:
        """Coverage that is proven for exchangeable rows, whatever the classifier's accuracy.

        ``coverage`` with calibration rows (for every class, with ``by_class``); None out of bag,
        where nothing is proven.
        """
        return None if self.out_of_bag else self.coverage

    def limits(self, coverage: float | None = None) -> Floats:
        """Return the largest score at which each class is in a set.

        Parameters
        ----------
        coverage : float, default=None
            None: the coverage of the calibration.

        Returns
        -------
        limits : ndarray of shape (n_classes,)
            Infinite if there are too few calibration rows: the class is then in every set.
        """
        wanted = self.coverage if coverage is None else read_coverage(coverage)
        result = [compute_limit(scores, wanted) for scores in self.scores]
        return np.array(result if self.by_class else result * len(self.classes))

    def predict(self, X: Any, coverage: float | None = None) -> Sets:
        """Predict sets of classes for new rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows, in the form that the classifier expects.
        coverage : float, default=None
            Another share of rows to be covered, without recalibration. Sets become larger as it
            increases.

        Returns
        -------
        sets : Sets
            With ``contains``, ``size``, ``labels()``, ``covers(y)`` and ``to_frame()``.
        """
        wanted = self.coverage if coverage is None else read_coverage(coverage)
        if coverage is not None:
            _warn_few_rows(self.scores, self.classes, wanted)
        probabilities = self.reader(as_native_table(X)).values
        contains = self._compute_membership(probabilities, (wanted,))[0]
        return Sets(contains, self.classes, probabilities, wanted)

    def coverage_curve(self, X: Any, y: Any, coverages: Any = COVERAGES) -> CoverageCurve:
        """Compute the empirical coverage of some rows for several nominal coverages.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows not used for fitting or calibration.
        y : array-like of shape (n_rows,)
        coverages : iterable of float
            Nominal coverages.

        Returns
        -------
        curve : CoverageCurve
            With ``to_frame()`` and ``plot()``.
        """
        wanted = read_coverages(coverages)
        X, labels = read_pair((X, y), "(X, y)", numeric=False)
        probabilities = self.reader(X).values
        sets = [
            Sets(contains, self.classes, probabilities, coverage)
            for coverage, contains in zip(
                wanted, self._compute_membership(probabilities, wanted), strict=True
            )
        ]
        return CoverageCurve(
            promised=np.array(wanted),
            covered=np.array([result.covers(labels).mean() for result in sets]),
            size=np.array([result.size.mean() for result in sets]),
            size_name="mean number of classes",
            n_rows=len(labels),
            name=self.method,
        )

    def _compute_membership(
        self, probabilities: Floats, coverages: tuple[float, ...]
    ) -> list[Flags]:
        """Return which classes are in the sets, for each coverage."""
        # Random numbers independent of those of the calibration.
        seed = None if self.seed is None else self.seed + 1
        scores = compute_scores(self.method, probabilities, seed)
        result = [scores <= self.limits(coverage) for coverage in coverages]
        if self.method == "aps" and seed is None:
            top = probabilities.argmax(axis=1)
            for contains in result:
                contains[np.arange(len(top)), top] = True
        return result


def prediction_set(
    estimator: Any,
    *,
    calibration: tuple[Any, Any] | None = None,
    training: tuple[Any, Any] | None = None,
    method: Method = "lac",
    coverage: float = 0.9,
    by_class: bool = False,
    randomized: bool = True,
    random_state: Any = None,
) -> PredictionSet:
    """Calibrate prediction sets that contain the true class with a given probability.

    A set holds one class where the classifier is confident, and several where it is not. The size
    of the sets is calibrated on rows that the classifier was not fitted on, so that the coverage
    does not depend on the quality of its probabilities.

    Sets calibrated on the rows that the model was fitted on would be too small. Give either
    ``calibration=(X, y)``, rows that the fitted model has **not** seen, or, for forests and
    bagging, ``training=(X, y)``, the rows that it was fitted on, with their out-of-bag
    probabilities.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier with ``predict_proba``, possibly a pipeline.
    calibration : tuple (X, y), default=None
        Rows that the estimator was not fitted on.
    training : tuple (X, y), default=None
        Its training rows, in their original order: for arboleda's forests, and for ensembles fitted
        with ``oob_score=True``.
    method : {"lac", "aps"}, default="lac"
        - ``"lac"``: the classes whose probability is at least a threshold. These sets are the
          smallest on average; a set is empty if no class reaches the threshold.
        - ``"aps"``: the most probable classes until the sum of their probabilities reaches a
          threshold, so that difficult rows get larger sets and the coverage is more uniform over
          rows.
    coverage : float, default=0.9
        Share of rows to be covered, between 0 and 1.
    by_class : bool, default=False
        Whether the coverage holds for the rows of each class (Mondrian): each class has its own
        limit, from its own calibration rows. Rare classes are then in more sets.
    randomized : bool, default=True
        For ``"aps"``: whether only a random part of a class's own probability counts, as in the
        paper. Otherwise all of it counts: sets are larger than necessary, cover more rows than
        required, especially with few classes, and always contain the most probable class.
    random_state : int, RandomState instance or None, default=None
        Seed of these random parts, one per row position.

    Returns
    -------
    calibrated : PredictionSet
        With ``predict(X)``, ``coverage_curve(X, y)`` and ``limits()``.

    Raises
    ------
    ValueError
        If not exactly one of calibration and training is given, the estimator is not a
        single-target classifier, y has a class unknown to it, or its out-of-bag predictions are
        unknown.
    TypeError
        If the estimator has no ``predict_proba``.

    Warns
    -----
    UserWarning
        If there are fewer than coverage / (1 - coverage) rows, in all or with ``by_class`` of some
        classes; these classes are then in every set.

    Notes
    -----
    With calibration rows that are exchangeable with new ones, a new row's class is in its set with
    probability ``coverage`` or more; over new rows and for the given n rows, the share covered
    follows a beta distribution with parameters k = ceil((n + 1) coverage) and n + 1 - k if no
    scores are equal. Equal scores, as with forests of few trees, can only increase it.

    Out of bag, no theorem holds: new rows are predicted by all members, training rows by about 37 %
    of them, whose probabilities are slightly worse. Sets therefore tend to be slightly too large.

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer (2005), "Algorithmic learning in a random world" (Mondrian).
    M. Sadinle, J. Lei, L. Wasserman (2019), "Least ambiguous set-valued classifiers with bounded
    error levels". Y. Romano, M. Sesia, E. Candes (2020), "Classification with valid and adaptive
    coverage". H. Linusson, U. Johansson, H. Bostrom (2020), "Efficient conformal predictor
    ensembles" (out of bag).

    Examples
    --------
    >>> from arboleda import RandomForestClassifier
    >>> from arboleda.explain import prediction_set
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_iris(return_X_y=True)
    >>> X_fit, X_cal, y_fit, y_cal = train_test_split(
    ...     X, y, train_size=60, stratify=y, random_state=0
    ... )
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X_fit, y_fit)
    >>> calibrated = prediction_set(forest, calibration=(X_cal, y_cal), coverage=0.95)
    >>> [labels.tolist() for labels in calibrated.predict(X[[0, 60, 129]]).labels()]
    [[0], [1], [1, 2]]
    """
    coverage = read_coverage(coverage)
    if method not in ("lac", "aps"):
        raise ValueError(f"method must be 'lac' or 'aps', got {method!r}")
    if (calibration is None) == (training is None):
        raise ValueError(
            "give exactly one of calibration=(X, y), rows that the estimator has not seen, and "
            "training=(X, y), the rows that it was fitted on"
        )
    read = make_output_reader(estimator, ("predict_proba",))
    if read.classes is None:
        raise ValueError(
            f"{type(estimator).__name__} is not a classifier: use prediction_interval for a "
            "regressor"
        )
    seed = None
    if randomized and method == "aps":
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    if training is None:
        X, y = read_pair(calibration, "calibration", numeric=False)
        probabilities = read(X).values
    else:
        X, y = read_pair(training, "training", numeric=False)
        probabilities, y = compute_oob_probabilities(estimator, X, y)
    codes = _encode_known_labels(y, read.classes)
    own = compute_scores(method, probabilities, seed)[np.arange(len(codes)), codes]
    groups = [own[codes == k] for k in range(len(read.classes))] if by_class else [own]
    scores = tuple(np.sort(group) for group in groups)
    _warn_few_rows(scores, read.classes, coverage)
    return PredictionSet(
        method, coverage, read.classes, bool(by_class), training is not None, read, scores, seed
    )


def _encode_known_labels(labels: Array, classes: Array) -> Codes:
    codes = encode_labels(labels, classes)
    unknown = np.flatnonzero(codes < 0)
    if unknown.size:
        row = int(unknown[0])
        raise ValueError(
            f"y has the class {labels.tolist()[row]!r} in row {row}, which is not one of the "
            f"estimator's classes {classes.tolist()}: drop such rows, or fit with some of them"
        )
    return codes


def _warn_few_rows(scores: tuple[Floats, ...], classes: Array, coverage: float) -> None:
    """Warn about classes with too few rows to determine their limit."""
    if len(scores) == 1:
        warn_few_rows(coverage, len(scores[0]), "calibration rows", callers=3)
        return
    few = [
        f"{label!r} ({len(own):,})"
        for label, own in zip(classes.tolist(), scores, strict=True)
        if compute_rank(coverage, len(own)) > len(own)
    ]
    if few:
        warnings.warn(
            f"coverage={coverage} for each class needs more calibration rows than these classes "
            f"have, so they are in every set: {', '.join(few[:10])}"
            f"{', ...' if len(few) > 10 else ''}; give more rows or a lower coverage",
            stacklevel=3,
        )
