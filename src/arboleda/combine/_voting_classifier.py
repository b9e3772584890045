"""Voting of classifiers by any of the combination rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda.combine._fusion_rules import (
    AccuracyWeights,
    Array,
    Floats,
    FusionRule,
    Majority,
    NaiveBayes,
    OutputArray,
)
from arboleda.combine._members import Named, are_classifiers, check_members
from arboleda.combine._outputs import compute_encoded_choices, compute_encoded_outputs
from arboleda.combine._target import read_classes
from arboleda.combine._voting import (
    CLASS_RULES,
    ClassRule,
    Voting,
    are_weights,
    labels_with_reject,
    make_rule,
)
from arboleda.persist import Field, Labels, Maybe, SavedArray


def _has_probabilities(voting: VotingClassifier) -> bool:
    if voting.rule is None and voting.voting == "hard":
        raise AttributeError(
            f"predict_proba is not available when voting={voting.voting!r}; rule='majority' "
            "returns vote shares"
        )
    return True


def _available_if_probabilities() -> Callable[..., Any]:
    return available_if(_has_probabilities)  # type: ignore[no-any-return]


class VotingClassifier(ClassifierMixin, Voting):  # type: ignore[misc]
    """Combination of classifiers by votes or by their probabilities.

    With ``rule=None`` it is the same as in scikit-learn: hard votes, or the mean of the
    probabilities. Three of the other rules use the class h_l(x) that each of the L members
    predicts, the others use their probabilities P_l(k).

    ==============  ==============================================================================
    rule            prediction
    ==============  ==============================================================================
    "majority"      the class that most members predict; with ``reject=True`` only if more than
                    half of them do, floor(L/2) + 1 at least
    "weighted"      votes weighted by log(p_l / (1 - p_l)) + log(K - 1), where p_l is the member's
                    out-of-fold accuracy and K the number of classes: the Bayes rule for independent
                    members
    "naive_bayes"   argmax_k P(k) prod_l P(h_l | k), with out-of-fold confusion matrices and
                    Laplace's correction
    "mean"          mean_l P_l, the P with the least mean KL(P_l || P)
    "geometric"     prod_l P_l^(1/L) / Z, the P with the least mean KL(P || P_l)
    "median"        median of each class, divided by the sum
    "min", "max"    smallest, largest of each class, divided by the sum
    "trimmed"       mean without the smallest and the largest, divided by the sum
    ==============  ==============================================================================

    Ties go to the class that is first in ``classes_``. If all classes have probability 0, which can
    happen with "min" and "geometric", the mean is used.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out. Each is cloned and fitted on class numbers, with
        class weights re-keyed. A prefitted member, in scikit-learn's ``FrozenEstimator``, must be
        fitted on the labels of y.
    voting : {"hard", "soft"}, default="hard"
        With ``rule=None``: the majority of the predictions, or the mean of the probabilities.
    weights : array-like of shape (n_members,), default=None
        For votes and means. A member of weight 0 is left out; other rules support only this weight.
    rule : str, default=None
        A rule of the table.
    reject : bool, default=False
        Whether rows without a majority get the reject label; for "majority" or "hard" votes.
    reject_label : label, default=None
        None: -1 where labels are numbers, "reject" where they are text.
    trim : float, default=0.2
        Share of the members that "trimmed" removes at each end, rounded down.
    cv : int, splitter or iterable, default=None
        Folds for the out-of-fold predictions that "weighted" and "naive_bayes" learn from. None: 5
        folds, stratified, without splitting groups.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.
    flatten_transform : bool, default=True
        Whether `transform` returns the probabilities of all members side by side.
    verbose : bool, default=False
        Whether to print a line for each fitted member.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    named_estimators_ : Bunch
        The fitted members by name; "drop" for a dropped member.
    classes_ : ndarray of shape (n_classes,)
    le_ : LabelEncoder
        Encoder of the labels as class numbers.
    vote_weights_ : ndarray of shape (n_members,)
        With "weighted": log(p_l / (1 - p_l)).
    confusion_ : ndarray of shape (n_members, n_classes, n_classes)
        With "naive_bayes": number of rows, or their weight, by true and by predicted class.
    reject_label_ : label
        With ``reject=True``.
    n_features_in_ : int
    feature_names_in_ : ndarray

    References
    ----------
    Kittler, J., Hatef, M., Duin, R. P. W., Matas, J. (1998), "On combining classifiers", IEEE PAMI
    20. Kuncheva, L. I. (2014), "Combining Pattern Classifiers", chapters 4 and 5. Kuncheva, L. I.,
    Rodríguez, J. J. (2014), "A weighted voting framework for classifiers ensembles", Knowledge and
    Information Systems 38. Titterington, D. M., et al. (1981), "Comparison of discrimination
    techniques applied to a complex data set of head injured patients", JRSS A 144.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, VotingClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [
    ...     ("tree", DecisionTreeClassifier(max_depth=2)),
    ...     ("bayes", GaussianNB()),
    ...     ("near", KNeighborsClassifier()),
    ... ]
    >>> vote = VotingClassifier(members, rule="weighted").fit(X, y)
    >>> vote.vote_weights_.round(2)
    array([2.64, 3.02, 3.6 ])
    >>> strict = VotingClassifier(members, rule="majority", reject=True).fit(X[::2], y[::2])
    >>> int((strict.predict(X[1::2]) == strict.reject_label_).sum())
    0
    """

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **Voting._fitted_attributes,
        "classes_": Labels(),
        "confusion_": Maybe(SavedArray(np.float64, 3)),
        "vote_weights_": Maybe(SavedArray(np.float64)),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Voting._parameter_constraints,
        "voting": [StrOptions({"hard", "soft"})],
        "rule": [StrOptions(set(CLASS_RULES)), None],
        "reject": ["boolean"],
        "flatten_transform": ["boolean"],
    }

    def __init__(
        self,
        estimators: list[Named],
        *,
        voting: Literal["hard", "soft"] = "hard",
        weights: Any = None,
        rule: ClassRule | None = None,
        reject: bool = False,
        reject_label: Any = None,
        trim: float = 0.2,
        cv: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.rule = rule
        self.reject = reject
        self.reject_label = reject_label
        self.trim = trim
        self.cv = cv
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the members on all rows, and learn the parameters of the rule.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            In a form that the members accept; frames stay frames.
        y : array-like of shape (n_samples,)
            Labels of any type, without missing values.
        **fit_params : dict
            ``sample_weight``, for the members and the rule; ``groups``, for ``cv``; others are
            passed to the members by scikit-learn's metadata routing, if it is enabled.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is invalid or incompatible with another, or a member refuses the data.
            The estimator stays unchanged.
        TypeError
            If there are weights and a member does not support them.
        """
        with restore_on_failure(self):
            self._validate_params()
            classes, target = read_classes(y)
            self.classes_ = classes
            self._set_label_encoder()
            self._fit(X, target, classes, dict(fit_params))
            self._set_learned_attributes()
        return self

    def _restore_rule(self) -> str | None:
        self._set_label_encoder()
        self._rule = self._make_rule(self._select_weights())
        weights, confusion = (getattr(self, n, None) for n in ("vote_weights_", "confusion_"))
        if (weights is not None) != isinstance(self._rule, AccuracyWeights):
            return "the learned parameters do not belong to the rule"
        if (confusion is not None) != isinstance(self._rule, NaiveBayes):
            return "the learned parameters do not belong to the rule"
        if weights is not None:
            if not are_weights(weights, len(self.estimators_)):
                return "there is not one finite weight for each member"
            self._rule = AccuracyWeights(weights)
        if confusion is not None:
            n_classes = len(self.classes_)
            is_valid = confusion.shape == (len(self.estimators_), n_classes, n_classes)
            if not is_valid or not np.isfinite(confusion).all() or (confusion < 0).any():
                return "the confusion matrices have a wrong shape or invalid counts"
            if not all(matrix.any() for matrix in confusion):
                return "a confusion matrix counts no row"
            self._rule = replace(cast(NaiveBayes, self._rule), confusion=confusion)
        return None

    def _set_label_encoder(self) -> None:
        """Set the attributes that depend only on the classes and the parameters."""
        self.le_: LabelEncoder = LabelEncoder()
        self.le_.classes_ = self.classes_
        if self.reject:
            self._check_reject()
            self._labels = labels_with_reject(self.classes_, self.reject_label)
            self.reject_label_: Any = self._labels[-1]

    def _members(self) -> list[Named]:
        members = check_members(self.estimators, self.get_params(deep=False))
        if not are_classifiers(members):
            raise ValueError(
                f"The estimator {type(members[0][1]).__name__} should be a classifier."
            )
        return members

    def _make_rule(self, weights: Any) -> FusionRule:
        rule = self.rule or ("majority" if self.voting == "hard" else "mean")
        return make_rule(rule, weights, self.trim, classes=True)

    def _check_reject(self) -> None:
        if self.rule != "majority" and (self.rule is not None or self.voting != "hard"):
            raise ValueError(
                f"reject=True needs a majority of votes, but rule={self.rule!r} and "
                f"voting={self.voting!r}: set rule='majority'"
            )
        if self.weights is not None and (np.asarray(self.weights) < 0).any():
            raise ValueError(
                f"reject=True needs weights that are not negative, got {self.weights!r}: a "
                "majority is not defined otherwise"
            )

    def _set_learned_attributes(self) -> None:
        for name in ("vote_weights_", "confusion_"):
            self.__dict__.pop(name, None)
        if isinstance(self._rule, AccuracyWeights):
            self.vote_weights_: Floats | None = self._rule.weights
        if isinstance(self._rule, NaiveBayes):
            self.confusion_: Floats | None = self._rule.confusion

    def _compute_outputs(self, X: Any) -> OutputArray:
        members = self._fitted_members()
        if self._rule.of_choices:
            return compute_encoded_choices(members, X, self.classes_, n_jobs=self.n_jobs)
        return compute_encoded_outputs(members, X, self.classes_, n_jobs=self.n_jobs).outputs

    def predict(self, X: Any) -> Array:
        """Predict classes by the rule; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
            With ``reject=True``, ``reject_label_`` if no class has more than half of the votes;
            `score` counts such rows as errors.
        """
        check_is_fitted(self)
        outputs = self._compute_outputs(X)
        scores = self._rule.scores(outputs, len(self.classes_), self._n_threads)
        best: Any = scores.argmax(axis=1)
        if not self.reject:
            labels: Array = self.classes_[best]
            return labels
        assert isinstance(self._rule, Majority)
        accepted = scores.max(axis=1) > self._rule.total(len(outputs)) / 2
        decided: Array = self._labels[np.where(accepted, best, len(self.classes_))]
        return decided

    @_available_if_probabilities()
    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities by the rule; with "majority", vote shares.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._rule.shares(self._compute_outputs(X), len(self.classes_), self._n_threads)

    def transform(self, X: Any) -> Array:
        """Return the predictions of the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        outputs : ndarray
            If the rule uses predicted classes, class numbers of shape (n_samples, n_members); else
            probabilities of shape (n_samples, n_members * n_classes), or, with
            ``flatten_transform=False``, (n_members, n_samples, n_classes).
        """
        check_is_fitted(self)
        outputs: Array = self._compute_outputs(X)
        if self._rule.of_choices:
            return outputs.T.astype(np.intp)
        return np.hstack(list(outputs)) if self.flatten_transform else outputs

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not used.

        Returns
        -------
        names : ndarray of str
        """
        names = self._make_feature_names(input_features)
        if not self._rule.of_choices:
            if not self.flatten_transform:
                raise ValueError(
                    "get_feature_names_out is not supported when `voting='soft'` and "
                    "`flatten_transform=False`"
                )
            names = [f"{name}{k}" for name in names for k in range(len(self.classes_))]
        return np.asarray(names, dtype=object)
