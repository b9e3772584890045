"""Pruned trees: Breiman et al. (1984), chapters 3, 8 and 11; Quinlan (1987); Zhou (2021)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import column_or_1d

from arboleda._base.tree_learner import Array, CategoricalFeatures, MaxFeatures
from arboleda._engine.tree import Loss
from arboleda.persist import Field
from arboleda.tree._decision_tree_estimators import DecisionTreeClassifier, DecisionTreeRegressor
from arboleda.tree._pruned_tree import PrunedTree, Pruning, make_pruning_constraints
from arboleda.tree._pruning_curve import CurveField


class PrunedTreeClassifier(PrunedTree, DecisionTreeClassifier):
    """Classification tree pruned by cross-validation or on a validation set.

    With ``pruning="cost_complexity"`` the tree grown from all rows defines the pruning path (see
    `cost_complexity_pruning_path`). For every fold a tree is grown without the fold's rows and
    pruned at the same complexity parameters, and the error on the held-out rows selects the
    parameter. With ``pruning="reduced_error"`` some rows are held out before growing; bottom-up, a
    node becomes a leaf if this does not increase the error on them. With ``pruning="validation"``
    the held-out rows stop the growth instead: top-down, a split is kept only if its two children
    make fewer errors on them than the node (pre-pruning).

    Parameters
    ----------
    pruning : {"cost_complexity", "reduced_error", "validation"}, default="cost_complexity"
        Pruning method.
    rule : {"1se", "min"}, default="1se"
        Tree of the path to select: the smallest tree whose mean error is within one standard error
        of the minimum, or the smallest tree with the minimum mean error.
    cv : int, splitter or iterable, default=10
        Folds of cost-complexity pruning. An int is the number of shuffled, stratified folds, so the
        order of the rows does not matter. A splitter or an iterable of (train, test) defines the
        rows itself.
    validation_fraction : float, default=0.25
        Share of the rows, stratified, that reduced-error pruning and pre-pruning hold out; ignored
        if ``X_val`` is passed to `fit`.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeClassifier`. Fractions refer to the rows that a tree is grown from.
    max_features, max_leaf_nodes, min_impurity_decrease, class_weight, splitter, monotonic_cst
        See `DecisionTreeClassifier`.
    max_bins, categorical_features
        See `DecisionTreeClassifier`. Bins are computed from all rows, including held-out rows.
    random_state : int, RandomState or None, default=None
        Seed of the folds or held-out rows, and of all random draws. Pass an int for reproducible
        results.
    n_jobs : int, default=None
        Number of threads, shared by the folds; None means all available cores. The result does not
        depend on it.

    Attributes
    ----------
    tree_ : Tree
        The pruned tree as arrays, under scikit-learn's names.
    ccp_alpha_ : float
        Selected complexity parameter; `DecisionTreeClassifier` with this ``ccp_alpha`` gives the
        same tree. This and the next attribute exist only for cost-complexity pruning.
    best_index_ : int
        Index of the selected entry of the curve.
    pruning_curve_ : PruningCurve or None
        Error against size along the path; None for other pruning methods.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    max_features_ : int
    n_outputs_ : int
        Always 1: pruned trees have one target.

    Notes
    -----
    The error is the share of the weight that is misclassified. The fold trees are pruned at the
    geometric mean of an interval's two ends (Breiman et al. 1984, section 3.4.2). The standard
    error is that of the mean over the folds (Hastie, Tibshirani and Friedman 2009, section 7.10):
    it does not change if all weights are scaled, or if a row of weight 2 is replaced by two rows in
    the same fold. rpart estimates it from individual rows instead.

    The path uses the same criterion as growing, as ``ccp_alpha`` does. The table is binned once for
    all folds, and all complexity parameters are evaluated in one pass over a fold's held-out rows.

    Reduced-error pruning finds the smallest of the pruned trees that are most accurate on the
    held-out rows. The predictions of the leaves are still those of the training rows.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), "Classification and Regression Trees".

    J. R. Quinlan (1987), "Simplifying decision trees", International Journal of Man-Machine Studies
    27(3).

    Z.-H. Zhou (2021), "Machine Learning", section 4.3.1.

    Examples
    --------
    >>> from arboleda import PrunedTreeClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = PrunedTreeClassifier(random_state=0).fit(X, y)
    >>> int(tree.pruning_curve_.n_leaves[0]), tree.get_n_leaves()
    (22, 6)
    """

    _stratify: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = make_pruning_constraints(
        DecisionTreeClassifier
    )

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **DecisionTreeClassifier._fitted_attributes,
        "pruning_curve_": CurveField(),
    }

    def __init__(
        self,
        *,
        pruning: Pruning = "cost_complexity",
        rule: Literal["min", "1se"] = "1se",
        cv: Any = 10,
        validation_fraction: float = 0.25,
        criterion: Literal["gini", "entropy", "log_loss", "misclassification"] = "gini",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        n_jobs: int | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            max_bins=max_bins,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            monotonic_cst=monotonic_cst,
        )
        self.pruning: Pruning = pruning
        self.rule: Literal["min", "1se"] = rule
        self.cv = cv
        self.validation_fraction = validation_fraction

    def _loss(self) -> Loss:
        return "misclassification"

    def _encode_validation(self, y: Any) -> Array:
        number = {label: k for k, label in enumerate(self.classes_.tolist())}
        labels = column_or_1d(y).tolist()
        for label in labels:
            if label not in number:
                raise ValueError(f"y_val has the class {label!r}, which is not in y")
        return np.array([number[label] for label in labels], dtype=np.intp)


_LOSSES: dict[str, Loss] = {
    "squared_error": "squared_error",
    "friedman_mse": "squared_error",
    "absolute_error": "absolute_error",
    "poisson": "poisson_deviance",
}


class PrunedTreeRegressor(PrunedTree, DecisionTreeRegressor):
    """Regression tree pruned by cross-validation or on a validation set.

    See `PrunedTreeClassifier`; the error is the mean squared error, the mean absolute error for
    ``criterion="absolute_error"``, or the mean Poisson deviance for ``criterion="poisson"``.

    Parameters
    ----------
    pruning, rule, random_state, n_jobs
        See `PrunedTreeClassifier`.
    cv : int, splitter or iterable, default=10
        Folds of cost-complexity pruning. An int is the number of shuffled folds, so the order of
        the rows does not matter. A splitter or an iterable of (train, test) defines the rows
        itself.
    validation_fraction : float, default=0.25
        Share of the rows that reduced-error pruning and pre-pruning hold out; ignored if ``X_val``
        is passed to `fit`.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeRegressor`.
    max_features, max_leaf_nodes, min_impurity_decrease, splitter, monotonic_cst
        See `DecisionTreeRegressor`.
    max_bins, categorical_features
        See `DecisionTreeRegressor`.

    Attributes
    ----------
    tree_ : Tree
        The pruned tree as arrays, under scikit-learn's names.
    ccp_alpha_ : float
        Selected complexity parameter; `DecisionTreeRegressor` with this ``ccp_alpha`` gives the
        same tree. This and the next attribute exist only for cost-complexity pruning.
    best_index_ : int
        Index of the selected entry of the curve.
    pruning_curve_ : PruningCurve or None
        Error against size along the path; None for other pruning methods.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.
    max_features_ : int
    n_outputs_ : int
        Always 1: pruned trees have one target.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), "Classification and Regression Trees".

    J. R. Quinlan (1987), "Simplifying decision trees", International Journal of Man-Machine Studies
    27(3).

    Z.-H. Zhou (2021), "Machine Learning", section 4.3.1.

    Examples
    --------
    >>> from arboleda import PrunedTreeRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = PrunedTreeRegressor(random_state=0).fit(X, y)
    >>> int(tree.pruning_curve_.n_leaves[0]), tree.get_n_leaves()
    (432, 4)
    """

    _stratify: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = make_pruning_constraints(
        DecisionTreeRegressor
    )

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **DecisionTreeRegressor._fitted_attributes,
        "pruning_curve_": CurveField(),
    }

    def __init__(
        self,
        *,
        pruning: Pruning = "cost_complexity",
        rule: Literal["min", "1se"] = "1se",
        cv: Any = 10,
        validation_fraction: float = 0.25,
        criterion: Literal[
            "squared_error", "friedman_mse", "absolute_error", "poisson"
        ] = "squared_error",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        n_jobs: int | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            max_bins=max_bins,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            monotonic_cst=monotonic_cst,
        )
        self.pruning: Pruning = pruning
        self.rule: Literal["min", "1se"] = rule
        self.cv = cv
        self.validation_fraction = validation_fraction

    def _loss(self) -> Loss:
        return _LOSSES[self.criterion]

    def _encode_validation(self, y: Any) -> Array:
        return self._encode_target(y)
