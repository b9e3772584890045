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

from arboleda.combine._combination import FitInputs
from arboleda.combine._members import Named
from arboleda.combine._saved_members import OneTarget
from arboleda.combine._stacking import Stacking, StackMethod, final_has
from arboleda.combine._target import (
    check_predictions,
    decode_labels,
    first_class_probabilities,
    predict_columns,
    read_multilabel,
)
from arboleda.combine._weighted_mean import Constraint, WeightedMeanClassifier
from arboleda.persist import Field, Maybe

__all__ = ["StackingClassifier"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class StackingClassifier(Stacking, WeightedMeanClassifier):
    """Stacking: a final classifier learns from out-of-fold predictions of the members.

    For each fold of a cross-validation, the members are fitted on the other folds and predict its
    rows, so every prediction comes from a member that has not seen the row's label. The final
    classifier is fitted on these predictions; the members are then fitted on all rows. With
    ``weights`` the prediction is a linear combination of the members' probabilities under a
    constraint (Breiman 1996), and there is no final classifier.

    The names, defaults and meaning of the parameters are those of scikit-learn; ``weights`` is an
    addition. For several levels, use a stack as the final estimator: its members learn from the
    first level's predictions, with their own folds.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out. Regressors are allowed, and are fitted on class numbers,
        except with ``weights``.
    final_estimator : estimator, default=None
        A classifier; None: scikit-learn's ``LogisticRegression``, for one label a row.
    cv : int, splitter, iterable or "prefit", default=None
        Folds; None: 5 in the order of the rows, stratified if each row has one label. "prefit": the
        members are already fitted; `fit` takes rows that they have not seen. The final classifier
        is not fitted on rows that are in no test set, such as the first of time-ordered folds.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        Method of the members that makes the columns: "auto" uses the first of the three that a
        member has. For two classes, only one probability is a column; "predict" gives class
        numbers. ``weights`` ignores it, and uses probabilities, or votes of members without them.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.
    passthrough : bool, default=False
        Whether the final classifier also gets the columns of X.
    verbose : int, default=0
        Whether to print a line for each fitted member; 0: no.
    weights : {"simplex", "nonnegative"}, default=None
        Combine the members by the weights with the smallest out-of-fold squared error of the
        probabilities: "nonnegative" weights of any sum, or weights of sum one, "simplex". The
        predicted probabilities are divided by the sum of the weights. Single-label only.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted on all rows. They are fitted on class numbers, except with
        ``cv="prefit"``.
    named_estimators_ : Bunch
    final_estimator_ : estimator
        The final classifier, fitted on class numbers. Without ``weights``.
    weights_ : ndarray of shape (n_members,)
        With ``weights``.
    stack_method_ : list of str
        The method used for each member.
    classes_ : ndarray of shape (n_classes,) or list of such arrays
        For a multilabel target, an array for each output.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

    Notes
    -----
    Differences from scikit-learn: folds need not cover all rows; `fit` accepts ``groups``, and
    passes them to a final estimator that accepts them; a class that the members of a fold have not
    seen has probability 0 without a warning.

    Multilabel targets are supported: y is then an array of 0 and 1 with a column for each output,
    such as that of scikit-learn's ``make_multilabel_classification``, and the members and the final
    classifier must support such targets. A member contributes a column for each output: the
    probability of label 1, the decision value or the label. With exactly two outputs, scikit-learn
    drops the first column of an array of probabilities; here all columns are kept. A multilabel
    stack cannot be saved to a model file; use pickle.

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
        self.weights: Constraint | None = weights

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
                f"weights={self.weights!r} supports one label for each row, and y has "
                f"{len(self.classes_)}: set weights=None and a final estimator, or fit a stack for "
                "each label with scikit-learn's MultiOutputClassifier"
            )
        if self.final_estimator is None:
            raise ValueError(
                "the default final estimator, LogisticRegression, supports one label for each row, "
                f"and y has {len(self.classes_)}: set final_estimator to one that supports "
                "several, such as RandomForestClassifier() or scikit-learn's "
                "MultiOutputClassifier(LogisticRegression())"
            )
        return None, numbers

    def _learn(self, inputs: FitInputs) -> None:
        if self._is_multilabel:
            members = list(zip(self._names, self.estimators_, strict=True))
            check_predictions(members, inputs.training.X, len(self.classes_))
        super()._learn(inputs)

    def _make_column_function(self) -> Callable[[Named, Any, Array | None], Floats]:
        if not self._is_multilabel:
            return super()._make_column_function()
        methods = dict(zip(self._names, self.stack_method_, strict=True))
        return partial(
            predict_columns, methods=methods, classes=self.classes_, is_prefit=self._is_prefit
        )

    def predict(self, X: Any, **predict_params: Any) -> Array:
        """Predict labels by the final classifier, or by the weighted mean of probabilities.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        **predict_params : dict
            Passed to ``predict`` of the final classifier.

        Returns
        -------
        labels : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        check_is_fitted(self)
        if self.weights is not None:
            return super().predict(X)
        numbers = self.final_estimator_.predict(
            self.transform(X), **self._route_predict_params(predict_params)
        )
        if self._is_multilabel:
            return decode_labels(numbers, self.classes_)
        return np.asarray(self.classes_[numbers])

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Predict probabilities by the final classifier, or by the weighted mean of the members.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes) or (n_samples, n_outputs)
            For a multilabel target, the probability of the first class, 0, of each output, as in
            scikit-learn's stack; 1 minus it is the probability of label 1.
        """
        check_is_fitted(self)
        if self.weights is not None:
            total = self.weights_.sum()
            if total == 0:  # no member helps: all classes are equally likely
                n_classes = len(self.classes_)
                return np.full((_num_samples(X), n_classes), 1 / n_classes)
            return np.asarray(self._compute_mean(X) / total)
        predicted = self.final_estimator_.predict_proba(self.transform(X))
        if self._is_multilabel:
            return first_class_probabilities(self.final_estimator_, predicted, len(self.classes_))
        shares = np.asarray(predicted)
        known = self.final_estimator_.classes_
        if len(known) == len(self.classes_):
            return shares
        # The only rows of a class may be in no test set.
        full = np.zeros((len(shares), len(self.classes_)))
        full[:, known] = shares
        return full

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return the decision function of the final classifier.

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
