"""Stacking of classifiers: Wolpert (1992), Breiman (1996)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from arboleda.combine._constrained_weights import Constraint
from arboleda.combine._learned import Given
from arboleda.combine._members import Named
from arboleda.combine._multilabel import (
    check_predictions,
    decode_labels,
    first_class_probabilities,
    predict_columns,
)
from arboleda.combine._saved_members import OneTarget
from arboleda.combine._stacking import Stacking, StackMethod, final_has
from arboleda.combine._target import read_multilabel
from arboleda.combine._weighted_mean import WeightedMeanClassifier
from arboleda.persist import Field, Maybe

__all__ = ["StackingClassifier"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class StackingClassifier(Stacking, WeightedMeanClassifier):
    """Stacking: a final classifier learns from what the members say of rows they have not seen.

    In every fold of a cross-validation the members learn from the other folds and answer for its
    rows, so that no answer for a row comes from a member that has seen its label. The final
    classifier learns from these answers, side by side; the members are then fitted on all rows.
    With ``weights`` the answer is a linear combination of the members' probabilities under a
    constraint (Breiman 1996), and there is no final classifier.

    The names, defaults and meaning of the parameters are scikit-learn's; ``weights`` is added. For
    several levels, let the final estimator be a stack itself: its members learn from the first
    level's answers, in folds of their own.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out. Regressors may be among them, which learn the numbers
        of the classes; not with ``weights``.
    final_estimator : estimator, default=None
        A classifier; None: scikit-learn's ``LogisticRegression``, for one label a row.
    cv : int, splitter, iterable or "prefit", default=None
        Folds; None: 5, stratified for one label a row, in the order of the rows. "prefit": the
        members are fitted, and `fit` is given rows that they have not seen. Rows that are in no
        test, as the first ones of time-ordered folds, are not learned from by the final classifier.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What members are asked for: "auto" takes the first of the three that a member has. Of two
        classes one probability is a column; "predict" gives the number of the class. ``weights``
        take probabilities, or votes where there are none, whatever stands here.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.
    passthrough : bool, default=False
        Whether the final classifier sees the columns of X too.
    verbose : int, default=0
        Whether to print a line for each member fitted: 0 does not.
    weights : {"simplex", "nonnegative"}, default=None
        Combine the members by the weights with the smallest squared error of their probabilities
        against the classes, out of fold: "nonnegative" weights of any sum, or those of sum one,
        "simplex". Probabilities are divided by the sum. For one label a row.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows. They know the classes by their numbers, but with
        ``cv="prefit"``.
    named_estimators_ : Bunch
    final_estimator_ : estimator
        The final classifier; it knows the classes by their numbers. Without ``weights``.
    weights_ : ndarray of shape (n_members,)
        With ``weights``.
    stack_method_ : list of str
        What each member is asked for.
    classes_ : ndarray of shape (n_classes,) or list of such arrays
        Of several labels for each row, an array for each output.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    Notes
    -----
    Differences from scikit-learn: folds need not cover all rows; ``groups`` may be given to `fit`,
    and reach a final estimator that takes them; a class that a fold's members have not seen has
    probability 0 without a warning.

    A row may have several labels: y is then an array of 0 and 1 with a column for each output, as
    of scikit-learn's ``make_multilabel_classification``, and the members and the final classifier
    must learn such targets. A member contributes a column for each output: the probability of
    label 1, its decision value or its label. Where there are just two outputs scikit-learn drops
    the first column of an array of probabilities; here all are kept. Such a stack has no model
    file; pickle keeps it.

    References
    ----------
    D. H. Wolpert (1992), "Stacked generalization", Neural Networks 5.
    L. Breiman (1996), "Stacked regressions", Machine Learning 24.

    Examples
    --------
    >>> from arboleda import RandomForestClassifier, StackingClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("forest", RandomForestClassifier(random_state=0)), ("bayes", GaussianNB())]
    >>> StackingClassifier(members).fit(X, y).transform(X).shape
    (150, 6)
    >>> weights = StackingClassifier(members, weights="simplex").fit(X, y).weights_
    >>> bool(weights.min() >= 0), float(weights.sum().round(9))
    (True, 1.0)

    Several labels for each row:

    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, y = make_multilabel_classification(n_classes=3, random_state=0)
    >>> forest = RandomForestClassifier(random_state=0)
    >>> StackingClassifier([("forest", forest)], forest).fit(X, y).predict(X).shape
    (100, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Stacking._parameter_constraints,
        "stack_method": [StrOptions({"auto", "predict_proba", "decision_function", "predict"})],
    }

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **Stacking._fitted_attributes,
        "classes_": Maybe(OneTarget()),
    }

    stack_method: StackMethod
    classes_: Any

    def __init__(
        self,
        estimators: list[Named],
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: StackMethod = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        weights: Constraint | None = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.weights = weights

    def _wanted_method(self) -> StackMethod:
        return self.stack_method

    def _default_final(self) -> Any:
        return LogisticRegression()

    @property
    def _is_multilabel(self) -> bool:
        return isinstance(self.classes_, list)

    def _read_target(self, y: Any) -> tuple[Array | None, Array]:
        found = read_multilabel(y)
        if found is None:
            return super()._read_target(y)
        self.classes_, numbers = found
        if self.weights is not None:
            raise ValueError(
                f"weights={self.weights!r} combines probabilities of one label for each row, and y "
                f"has {len(self.classes_)}: set weights=None and give a final estimator, or fit a "
                "stack for each label with scikit-learn's MultiOutputClassifier"
            )
        if self.final_estimator is None:
            raise ValueError(
                "the default final estimator, LogisticRegression, learns one label for each row, "
                f"and y has {len(self.classes_)}: set final_estimator to one that learns several, "
                "such as RandomForestClassifier() or scikit-learn's "
                "MultiOutputClassifier(LogisticRegression())"
            )
        return None, numbers

    def _learn(self, given: Given) -> None:
        if self._is_multilabel:
            members = list(zip(self._names, self.estimators_, strict=True))
            check_predictions(members, given.training.X, len(self.classes_))
        super()._learn(given)

    def _ask_by_method(self) -> Callable[[Named, Any, Array | None], Floats]:
        if not self._is_multilabel:
            return super()._ask_by_method()
        methods = dict(zip(self._names, self.stack_method_, strict=True))
        return partial(
            predict_columns, methods=methods, classes=self.classes_, is_prefit=self._is_prefit
        )

    def predict(self, X: Any, **predict_params: Any) -> Array:
        """Labels that the final classifier predicts, or that are most probable by the weights.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        **predict_params : dict
            For the final classifier's ``predict``.

        Returns
        -------
        labels : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        check_is_fitted(self)
        if self.weights is not None:
            return super().predict(X)
        numbers = self.final_estimator_.predict(
            self.transform(X), **self._for_final(predict_params)
        )
        if self._is_multilabel:
            return decode_labels(numbers, self.classes_)
        return np.asarray(self.classes_[numbers])

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the final classifier, or the weighted mean of the members'.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_outputs)
            Of several labels for each row, the probability that an output has the first of its
            classes, which is 0, as scikit-learn's stack returns it: 1 minus it is that of label 1.
        """
        check_is_fitted(self)
        if self.weights is not None:
            total = self.weights_.sum()
            if total == 0:  # no member helps: all classes are alike
                n_classes = len(self.classes_)
                return np.full((_num_samples(X), n_classes), 1 / n_classes)
            return np.asarray(self._mean(X) / total)
        predicted = self.final_estimator_.predict_proba(self.transform(X))
        if self._is_multilabel:
            return first_class_probabilities(self.final_estimator_, predicted, len(self.classes_))
        said = np.asarray(predicted)
        known = self.final_estimator_.classes_
        if len(known) == len(self.classes_):
            return said
        # Rows that are in no test may have been a class's only ones.
        full = np.zeros((len(said), len(self.classes_)))
        full[:, known] = said
        return full

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Decision function of the final classifier.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        decisions : ndarray of shape (n_samples,), (n_samples, n_classes) or \
(n_samples, n_outputs)
        """
        check_is_fitted(self)
        return np.asarray(self.final_estimator_.decision_function(self.transform(X)))
