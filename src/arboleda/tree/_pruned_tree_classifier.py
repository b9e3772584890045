"""Pruned classification trees: Breiman et al. (1984), section 3.4; Quinlan (1987); Zhou (2021)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import column_or_1d

from arboleda._engine.tree import Loss
from arboleda.persist import Field
from arboleda.tree._decision_tree_classifier import DecisionTreeClassifier
from arboleda.tree._pruned_tree import PrunedTree, Pruning
from arboleda.tree._pruning_curve import CurveField
from arboleda.tree._tree_learner import Array, CategoricalFeatures, MaxFeatures


class PrunedTreeClassifier(PrunedTree, DecisionTreeClassifier):
    """Classification tree that is grown large and pruned to the size that other rows call for.

    With ``pruning="cost_complexity"`` the tree grown from all rows gives the sequence of its best
    pruned trees (see `cost_complexity_pruning_path`). One tree a fold is grown without the fold's
    rows and pruned along the same prices of a leaf, and the error on the held-out rows says which
    price to take. With ``pruning="reduced_error"`` a part of the rows is set aside before growing;
    from the leaves up, a node becomes a leaf where that makes no more errors on them. With
    ``pruning="validation"`` the rows set aside stop the growth instead: from the root down, a split
    is kept only if its two children make fewer errors on them than the node (pre-pruning).

    Parameters
    ----------
    pruning : {"cost_complexity", "reduced_error", "validation"}, default="cost_complexity"
        How to prune.
    rule : {"1se", "min"}, default="1se"
        Which tree of the path: the smallest whose mean error is within one standard error of the
        least one, or the one with the least (the smallest such).
    cv : int, splitter or iterable, default=10
        Folds of cost-complexity pruning. An int deals the rows out at random, of each class as
        many to every fold, so sorted rows do no harm; a splitter or an iterable of (train, test)
        says itself which rows.
    validation_fraction : float, default=0.25
        Share of the rows that reduced-error pruning and pre-pruning set aside, of each class the
        same; of no account where `fit` is given ``X_val``.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `DecisionTreeClassifier`. A fraction of all rows is one of the rows that a tree grows
        from.
    max_features, max_leaf_nodes, min_impurity_decrease, class_weight, splitter, monotonic_cst
        See `DecisionTreeClassifier`.
    max_bins, categorical_features
        See `DecisionTreeClassifier`. Bins are made of all rows, those held out included.
    random_state : int, RandomState or None, default=None
        Seed of the folds, or of the rows set aside, and of all that is drawn in growing. Give an
        int to get the same tree again.
    n_jobs : int, default=None
        Threads, shared by the folds: None all available cores. The result does not depend on it.

    Attributes
    ----------
    tree_ : Tree
        The pruned tree as arrays, under scikit-learn's names.
    ccp_alpha_ : float
        The price of a leaf that was chosen; `DecisionTreeClassifier` with it as ``ccp_alpha`` grows
        the same tree. Only for cost-complexity pruning, as the next.
    best_index_ : int
        Entry of the curve that was chosen.
    pruning_curve_ : PruningCurve or None
        Error against size along the path, for plotting; None unless pruned by cost and
        complexity.
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
    neither a common factor of all weights nor writing a row of weight 2 twice, in its fold, changes
    it. rpart estimates it from the single rows instead.

    The path prunes by the criterion that the tree grew by, as ``ccp_alpha`` does. The table is
    coded once for all folds, and all prices are judged in one pass over a fold's held-out rows.

    Reduced-error pruning leaves the most accurate of all pruned trees on the rows set aside, and
    of those the smallest. What the leaves then answer stays what the growing rows say.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in DecisionTreeClassifier._parameter_constraints.items()
           if k != "ccp_alpha"},
        **PrunedTree._pruning_constraints,
    }  # fmt: skip

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
        self.pruning = pruning
        self.rule = rule
        self.cv = cv
        self.validation_fraction = validation_fraction

    def _loss(self) -> Loss:
        return "misclassification"

    def _encode_validation(self, y: Any) -> Array:
        number = {label: k for k, label in enumerate(self.classes_.tolist())}
        labels = column_or_1d(y).tolist()
        for label in labels:
            if label not in number:
                raise ValueError(f"y_val has the class {label!r}, which y does not have")
        return np.array([number[label] for label in labels], dtype=np.intp)
