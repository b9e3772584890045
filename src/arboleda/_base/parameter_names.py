"""Parameter names of other libraries, and errors that name the parameter of this one.

A test compares the tables with those of the guide, docs/guide/coming_from.md.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

__all__ = ["FIT_ARGUMENTS", "PARAMETERS", "NamesOtherParameters", "name_other_arguments"]

_ROUNDS = ("max_iter", "n_estimators")
_LEAF_ROWS = ("min_samples_leaf",)
_PATIENCE = ("n_iter_no_change",)

# Name in another library -> names here, of which an estimator has at most one; the first is meant.
PARAMETERS: dict[str, tuple[str, ...]] = {
    # number of rounds or trees
    "max_iter": ("n_estimators",),
    "n_estimators": ("max_iter",),
    "num_boost_round": _ROUNDS,
    "num_iterations": _ROUNDS,
    "num_rounds": _ROUNDS,
    "num_trees": _ROUNDS,
    "iterations": _ROUNDS,
    "nrounds": _ROUNDS,
    "ntree": _ROUNDS,
    "early_stopping_rounds": _PATIENCE,
    "early_stopping_round": _PATIENCE,
    "od_wait": _PATIENCE,
    "eta": ("learning_rate",),
    "shrinkage": ("learning_rate",),
    # size of a tree
    "num_leaves": ("max_leaf_nodes",),
    "max_leaves": ("max_leaf_nodes",),
    "maxnodes": ("max_leaf_nodes",),
    "depth": ("max_depth",),
    "min_data_in_leaf": _LEAF_ROWS,
    "min_child_samples": _LEAF_ROWS,
    "min_node_size": _LEAF_ROWS,
    "nodesize": _LEAF_ROWS,
    "min_sum_hessian_in_leaf": ("min_child_weight",),
    "grow_policy": ("growth",),
    # regularization
    "reg_lambda": ("l2_regularization",),
    "lambda_l2": ("l2_regularization",),
    "l2_leaf_reg": ("l2_regularization",),
    "reg_alpha": ("l1_regularization",),
    "lambda_l1": ("l1_regularization",),
    "gamma": ("min_split_gain", "min_impurity_decrease"),
    "min_gain_to_split": ("min_split_gain", "min_impurity_decrease"),
    # samples of rows and columns
    "bagging_fraction": ("subsample", "max_samples"),
    "subsample": ("max_samples",),
    "sampsize": ("max_samples",),
    "colsample_bytree": ("max_features",),
    "feature_fraction": ("colsample_bytree", "max_features"),
    "colsample_bynode": ("max_features",),
    "feature_fraction_bynode": ("max_features",),
    "rsm": ("max_features",),
    "mtry": ("max_features",),
    "data_sample_strategy": ("sampling",),
    "rate_drop": ("drop_rate",),
    # columns and classes
    "max_bin": ("max_bins",),
    "border_count": ("max_bins",),
    "cat_features": ("categorical_features",),
    "categorical_feature": ("categorical_features",),
    "monotone_constraints": ("monotonic_cst",),
    "interaction_constraints": ("interaction_cst",),
    "forcedsplits_filename": ("forced_splits",),
    "class_weights": ("class_weight",),
    "scale_pos_weight": ("class_weight",),
    "auto_class_weights": ("class_weight",),
    "is_unbalance": ("class_weight",),
    "linear_tree": ("linear_leaves",),
    "lambdarank_truncation_level": ("truncation_level",),
    "linear_lambda": ("linear_l2",),
    "tweedie_variance_power": ("power",),
    "quantile_alpha": ("quantile",),
    "sampling_method": ("sampling",),
    "early_stopping_min_delta": ("tol",),
    # the rest
    "objective": ("loss", "criterion"),
    "loss_function": ("loss", "criterion"),
    "eval_metric": ("scoring",),
    "base_estimator": ("estimator",),
    "nthread": ("n_jobs",),
    "num_threads": ("n_jobs",),
    "thread_count": ("n_jobs",),
    "seed": ("random_state",),
    "random_seed": ("random_state",),
    "verbosity": ("verbose",),
    "init_model": ("warm_start",),
}

# Argument of `fit` in another library -> arguments of `fit` here; others are looked up above.
FIT_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "eval_set": ("X_val", "y_val"),
    "valid_sets": ("X_val", "y_val"),
    "validation_data": ("X_val", "y_val"),
    "X_valid": ("X_val",),
    "y_valid": ("y_val",),
    "sample_weight_eval_set": ("sample_weight_val",),
    "eval_sample_weight": ("sample_weight_val",),
    "base_margin": ("init_score",),
    "baseline": ("init_score",),
    "base_margin_eval_set": ("init_score_val",),
    "eval_init_score": ("init_score_val",),
    "eval_group": ("group_val",),
    "eval_qid": ("qid_val",),
    "group_id": ("qid",),
    "weight": ("sample_weight",),
    "sample_weights": ("sample_weight",),
}


class NamesOtherParameters:
    """Mixin of estimators whose errors name the parameter that another library calls differently.

    The check is in ``__new__``, so that ``__init__`` keeps the parameters that scikit-learn reads.
    A class without ``__init__`` has no parameters and does not need the mixin.

    Examples
    --------
    >>> from arboleda import HistGradientBoostingClassifier
    >>> HistGradientBoostingClassifier(num_leaves=15)
    Traceback (most recent call last):
    TypeError: HistGradientBoostingClassifier has no parameter num_leaves; here it is max_leaf_nodes
    """

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Create the estimator; raise an error for the name of another library."""
        if message := _find_message(cls, parameters):
            raise TypeError(message)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, or of its members by ``<member>__<parameter>``.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self : estimator
        """
        if params.keys() & PARAMETERS.keys():  # a member may have such a name, too
            known = self.get_params(deep=True)  # type: ignore[attr-defined]
            unknown = {name: value for name, value in params.items() if name not in known}
            if message := _find_message(type(self), unknown):
                raise ValueError(message)
        changed: Self = super().set_params(**params)  # type: ignore[misc]
        return changed


def _find_message(cls: type, names: dict[str, Any]) -> str | None:
    """Return the error for the first name that has another name in this library."""
    others = names.keys() & PARAMETERS.keys()
    if not others:
        return None
    own = inspect.signature(cls).parameters
    for name in names:
        if name in others and name not in own:
            found = next((ours for ours in PARAMETERS[name] if ours in own), None)
            if found is not None:
                return f"{cls.__name__} has no parameter {name}; here it is {found}"
    return None


Estimator = TypeVar("Estimator")
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def name_other_arguments(
    fit: Callable[Concatenate[Estimator, Arguments], Returned],
) -> Callable[Concatenate[Estimator, Arguments], Returned]:
    """Decorate `fit`: the error for an unknown argument names the one of this library."""
    own = inspect.signature(fit).parameters

    @functools.wraps(fit)
    def checked_fit(
        self: Estimator, *args: Arguments.args, **options: Arguments.kwargs
    ) -> Returned:
        for name in options.keys() - own.keys():
            if message := _find_fit_message(type(self), name, own):
                raise TypeError(message)
        return fit(self, *args, **options)

    return cast(Callable[Concatenate[Estimator, Arguments], Returned], checked_fit)


def _find_fit_message(cls: type, name: str, own: Any) -> str | None:
    """Return the error for an argument of `fit`; it may be a parameter of the estimator here."""
    start = f"{cls.__name__}.fit has no argument {name}; here"
    ours = FIT_ARGUMENTS.get(name, ())
    if ours and all(argument in own for argument in ours):
        return f"{start} it is {' and '.join(ours)}"
    parameters = inspect.signature(cls).parameters
    for parameter in (name, *PARAMETERS.get(name, ())):
        if parameter in parameters:
            return f"{start} it is the parameter {parameter} of {cls.__name__}"
    return f"{start} is nothing of its kind: leave it out" if ours else None
