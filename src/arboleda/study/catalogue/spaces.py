"""Ranges of the models' parameters, for searches that draw candidates instead of reading a grid.

A space has the parameters of the model's grid, so that the grid's first candidate, the usual one,
can be the first that is tried.
"""

from collections.abc import Mapping

from arboleda.study.catalogue.model import Setting
from arboleda.study.catalogue.space import Choice, Range, Real, Whole

__all__ = [
    "boosting",
    "cart",
    "elastic_net",
    "forest",
    "friedman",
    "inverse_penalty",
    "kernel_ridge",
    "lasso",
    "naive_bayes",
    "neighbours",
    "network",
    "penalty",
    "subspaces",
]

Space = Mapping[str, Range]


def cart(setting: Setting) -> Space:
    """Depth, or leaves grown best first, and how many rows a leaf holds at least."""
    return {
        "max_depth": Choice((None, 3, 5, 8, 12, 16)),
        "min_samples_leaf": Whole(1, 50, log=True),
        "max_leaf_nodes": Choice((None, 8, 16, 32, 64, 128, 256)),
    }


def forest(setting: Setting) -> Space:
    """Columns tried at a node, and rows of a leaf."""
    return {"max_features": Real(0.05, 1.0), "min_samples_leaf": Whole(1, 20, log=True)}


def subspaces(setting: Setting) -> Space:
    """Columns that a member sees."""
    return {"max_features": Real(0.1, 1.0)}


def boosting(setting: Setting) -> Space:
    """Steps, rounds and leaves of gradient boosting on histograms."""
    return {
        "learning_rate": Real(0.02, 0.3, log=True),
        "max_iter": Whole(50, 600, log=True),
        "max_leaf_nodes": Whole(4, 64, log=True),
    }


def friedman(setting: Setting) -> Space:
    """Steps, rounds, depth and the share of rows of Friedman's gradient boosting."""
    return {
        "learning_rate": Real(0.02, 0.3, log=True),
        "n_estimators": Whole(50, 400, log=True),
        "max_depth": Whole(1, 6),
        "subsample": Real(0.4, 1.0),
    }


def inverse_penalty(setting: Setting) -> Space:
    """The larger, the less is penalised."""
    return {"C": Real(1e-3, 1e3, log=True)}


def penalty(setting: Setting) -> Space:
    """Of squared weights."""
    return {"alpha": Real(1e-3, 1e4, log=True)}


def lasso(setting: Setting) -> Space:
    """Of absolute weights, for a target of unit size."""
    return {"alpha": Real(1e-4, 0.5, log=True)}


def elastic_net(setting: Setting) -> Space:
    """Of both, and the share of the absolute ones."""
    return {"alpha": Real(1e-4, 0.5, log=True), "l1_ratio": Real(0.05, 1.0)}


def kernel_ridge(setting: Setting) -> Space:
    """Of squared weights among pairs of rows."""
    return {"alpha": Real(1e-3, 1e2, log=True)}


def naive_bayes(setting: Setting) -> Space:
    """What is added to variances, as a share of the largest."""
    return {"var_smoothing": Real(1e-9, 1.0, log=True)}


def neighbours(setting: Setting) -> Space:
    """How many, and whether near ones count more."""
    most = min(100, setting.most_neighbours)
    return {
        "n_neighbors": Whole(1, most, log=True),
        "weights": Choice(("uniform", "distance")),
    }


def network(setting: Setting) -> Space:
    """Units of the hidden layer, and the penalty of weights."""
    return {"hidden_units": Whole(8, 256, log=True), "alpha": Real(1e-6, 1.0, log=True)}
