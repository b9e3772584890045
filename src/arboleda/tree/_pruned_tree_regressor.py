"""Pruned regression trees: Breiman et al. (1984), sections 3.4, 8.5 and 11.5."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from arboleda._engine.tree import Loss
from arboleda.persist import Field
from arboleda.tree._decision_tree_regressor import DecisionTreeRegressor
from arboleda.tree._pruned_tree import PrunedTree, Pruning
from arboleda.tree._pruning_curve import CurveField
from arboleda.tree._tree_learner import Array, CategoricalFeatures, MaxFeatures

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in DecisionTreeRegressor._parameter_constraints.items()
           if k != "ccp_alpha"},
        **PrunedTree._pruning_constraints,
    }  # fmt: skip

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
        self.pruning = pruning
        self.rule = rule
        self.cv = cv
        self.validation_fraction = validation_fraction

    def _loss(self) -> Loss:
        return _LOSSES[self.criterion]

    def _encode_validation(self, y: Any) -> Array:
        return self._encode_target(y)
