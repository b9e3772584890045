"""Sets of classes over any classifier that hold the true class with a stated probability."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda.explain._conformal import (
    COVERAGES,
    Floats,
    limit_of,
    rank_of,
    read_coverage,
    read_coverages,
    read_pair,
    table_of,
    tell_of_few_rows,
)
from arboleda.explain._coverage_curve import CoverageCurve
from arboleda.explain._outputs import OutputReader, output_reader
from arboleda.explain._prediction_set_out_of_bag import out_of_bag
from arboleda.explain._prediction_set_scores import Method, scores_of
from arboleda.explain._sets import Codes, Flags, Sets, codes_of

__all__ = ["PredictionSet", "prediction_set"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class PredictionSet:
    """What `prediction_set` returns: a classifier that answers with sets of classes.

    Attributes
    ----------
    method : {"lac", "aps"}
        How classes are scored.
    coverage : float
        Share of rows to be covered, where `predict` is not told otherwise.
    classes : ndarray of shape (n_classes,)
    by_class : bool
        Whether every class has a limit of its own.
    out_of_bag : bool
        Whether training rows calibrated, judged by the members that did not see them.
    reader : callable
        Asks the classifier for probabilities.
    scores : tuple of ndarray
        Sorted scores of the rows that calibrated: of all of them, or of each class.
    seed : int or None
        Of the random parts, where there are any.
    """

    method: Method
    coverage: float
    classes: Array
    by_class: bool
    out_of_bag: bool
    reader: OutputReader
    scores: tuple[Floats, ...]
    seed: int | None

    @property
    def n_rows(self) -> int:
        """Rows whose scores set the limit."""
        return sum(map(len, self.scores))

    @property
    def guaranteed_coverage(self) -> float | None:
        """Coverage that is proved for exchangeable rows, whatever the classifier is worth.

        ``coverage`` by calibration rows (of every class, with ``by_class``); None out of bag, where
        nothing is.
        """
        return None if self.out_of_bag else self.coverage

    def limits(self, coverage: float | None = None) -> Floats:
        """Return the largest score with which each class is in a set.

        Parameters
        ----------
        coverage : float, default=None
            None: that of the calibration.

        Returns
        -------
        limits : ndarray of shape (n_classes,)
            Infinite where too few rows calibrate: the class is in every set.
        """
        wanted = self.coverage if coverage is None else read_coverage(coverage)
        found = [limit_of(scores, wanted) for scores in self.scores]
        return np.array(found if self.by_class else found * len(self.classes))

    def predict(self, X: Any, coverage: float | None = None) -> Sets:
        """Say sets of classes of new rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            As the classifier takes it.
        coverage : float, default=None
            Another share of rows to be covered; no new calibration is needed. The higher, the more
            classes are in every set.

        Returns
        -------
        sets : Sets
            With ``contains``, ``size``, ``labels()``, ``covers(y)`` and ``to_frame()``.
        """
        wanted = self.coverage if coverage is None else read_coverage(coverage)
        if coverage is not None:
            _tell_of_few(self.scores, self.classes, wanted)
        probabilities = self.reader(table_of(X)).values
        contains = self._contained(probabilities, (wanted,))[0]
        return Sets(contains, self.classes, probabilities, wanted)

    def coverage_curve(self, X: Any, y: Any, coverages: Any = COVERAGES) -> CoverageCurve:
        """Count how many of some rows are covered, for several coverages.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows that took no part in fitting or calibration.
        y : array-like of shape (n_rows,)
        coverages : iterable of float
            What to ask for.

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
                wanted, self._contained(probabilities, wanted), strict=True
            )
        ]
        return CoverageCurve(
            promised=np.array(wanted),
            covered=np.array([found.covers(labels).mean() for found in sets]),
            size=np.array([found.size.mean() for found in sets]),
            size_name="mean number of classes",
            n_rows=len(labels),
            name=self.method,
        )

    def _contained(self, probabilities: Floats, coverages: tuple[float, ...]) -> list[Flags]:
        """Which classes are in the sets, for each coverage."""
        # Other draws than those of the calibration.
        seed = None if self.seed is None else self.seed + 1
        scores = scores_of(self.method, probabilities, seed)
        found = [scores <= self.limits(coverage) for coverage in coverages]
        if self.method == "aps" and seed is None:
            top = probabilities.argmax(axis=1)
            for contains in found:
                contains[np.arange(len(top)), top] = True
        return found


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
    """Calibrate sets of classes that hold the true one with some probability, over any classifier.

    Instead of one class a set of them: of one where the classifier is sure, of several where it is
    not. How large a set must be is learned from rows that the classifier did not learn from, so
    that the coverage does not rest on its probabilities being right.

    Which rows these are has to be said, because sets from rows that the model knows would be too
    small. Give ``calibration=(X, y)``: rows that the fitted model has **not** seen; or, of forests
    and bagging, ``training=(X, y)``: those that it was fitted on, each judged by the members whose
    bags it is not in.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier with ``predict_proba``, pipelines included.
    calibration : tuple (X, y), default=None
        Rows that the estimator did not learn from.
    training : tuple (X, y), default=None
        Its training rows, in their order: for our forests, and for ensembles fitted with
        ``oob_score=True``.
    method : {"lac", "aps"}, default="lac"
        - ``"lac"``: the classes whose probability is at least some number. These sets are the
          smallest on average; a set is empty where no class reaches it.
        - ``"aps"``: the most probable classes until their probabilities add up to some number, so
          that hard rows get larger sets and are covered more nearly as often as easy ones.
    coverage : float, default=0.9
        Share of rows to be covered, between 0 and 1.
    by_class : bool, default=False
        Whether to keep the promise for the rows of each class (Mondrian): each has a limit of its
        own, from its own calibration rows. Rare classes are then in more sets.
    randomized : bool, default=True
        For ``"aps"``: whether only a random part of a class's own probability counts, as in the
        paper. Without it the whole counts, sets are larger than need be, cover more rows than
        promised, above all where there are few classes, and always hold the most probable class.
    random_state : int, RandomState instance or None, default=None
        Draws these parts, for every place in a table one.

    Returns
    -------
    calibrated : PredictionSet
        With ``predict(X)``, ``coverage_curve(X, y)`` and ``limits()``.

    Raises
    ------
    ValueError
        If not one of calibration and training is given, the estimator is no classifier of one
        target, knows a class of y not, or its rows left out are not known.
    TypeError
        If the estimator has no ``predict_proba``.

    Warns
    -----
    UserWarning
        If there are too few rows for the coverage, fewer than coverage / (1 - coverage), of all or
        with ``by_class`` of some classes, which are then in every set.

    Notes
    -----
    With calibration rows that are exchangeable with new ones, a new row's class is in its set with
    probability ``coverage`` or more; over new rows and for the n rows at hand, the share covered
    follows a beta distribution of parameters k = ceil((n + 1) coverage) and n + 1 - k, where no
    scores are equal. Equal scores, as of forests of few trees, can only make it more.

    Out of bag no theorem holds: new rows are judged by all members, training rows by about 37 % of
    them, whose probabilities are a little worse. So sets tend to be a little too large.

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
    >>> unsure = prediction_set(forest, calibration=(X_cal, y_cal), coverage=0.95)
    >>> [found.tolist() for found in unsure.predict(X[[0, 60, 129]]).labels()]
    [[0], [1], [1, 2]]
    """
    coverage = read_coverage(coverage)
    if method not in ("lac", "aps"):
        raise ValueError(f"method must be 'lac' or 'aps'; got {method!r}")
    if (calibration is None) == (training is None):
        raise ValueError(
            "give one of calibration=(X, y), rows that the estimator has not seen, and "
            "training=(X, y), the rows that it was fitted on"
        )
    read = output_reader(estimator, ("predict_proba",))
    if read.classes is None:
        raise ValueError(
            f"{type(estimator).__name__} is no classifier: of numbers ask prediction_interval"
        )
    seed = None
    if randomized and method == "aps":
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    if training is None:
        X, y = read_pair(calibration, "calibration", numeric=False)
        probabilities = read(X).values
    else:
        X, y = read_pair(training, "training", numeric=False)
        probabilities, y = out_of_bag(estimator, X, y)
    codes = _known(y, read.classes)
    own = scores_of(method, probabilities, seed)[np.arange(len(codes)), codes]
    groups = [own[codes == k] for k in range(len(read.classes))] if by_class else [own]
    scores = tuple(np.sort(group) for group in groups)
    _tell_of_few(scores, read.classes, coverage)
    return PredictionSet(
        method, coverage, read.classes, bool(by_class), training is not None, read, scores, seed
    )


def _known(labels: Array, classes: Array) -> Codes:
    codes = codes_of(labels, classes)
    unknown = np.flatnonzero(codes < 0)
    if unknown.size:
        row = int(unknown[0])
        raise ValueError(
            f"y has the class {labels.tolist()[row]!r} in row {row}, which the estimator does not "
            f"know; its classes are {classes.tolist()}: no set can hold it, drop such rows or fit "
            "with some of them"
        )
    return codes


def _tell_of_few(scores: tuple[Floats, ...], classes: Array, coverage: float) -> None:
    """Warn of limits that so few rows cannot set."""
    if len(scores) == 1:
        tell_of_few_rows(coverage, len(scores[0]), "rows of calibration", callers=3)
        return
    few = [
        f"{label!r} ({len(own):,})"
        for label, own in zip(classes.tolist(), scores, strict=True)
        if rank_of(coverage, len(own)) > len(own)
    ]
    if few:
        warnings.warn(
            f"coverage={coverage} of each class needs more rows of calibration than these classes "
            f"have, so that they are in every set: {', '.join(few[:10])}"
            f"{', ...' if len(few) > 10 else ''}; give more rows, or a lower coverage",
            stacklevel=3,
        )
