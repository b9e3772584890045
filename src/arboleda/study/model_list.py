"""The catalogue by family, with a line on each model: what ``arboleda models`` lists."""

from collections.abc import Sequence
from dataclasses import dataclass

from arboleda.catalogue.boosting import BOOSTING, BOOSTING_STYLES
from arboleda.catalogue.ensembles import ADABOOST, FORESTS
from arboleda.catalogue.entries import ALL, CORE, PORTFOLIO_WORD
from arboleda.catalogue.kernels import CLASS_MODELS, KERNELS
from arboleda.catalogue.model import Model
from arboleda.catalogue.portfolio import PORTFOLIO
from arboleda.catalogue.selected import AVERAGES, SELECTED
from arboleda.catalogue.simple_models import BASELINES, LINEAR, NEIGHBOURS, NETWORKS, TREES
from arboleda.study.config.presets import PRESETS, Preset

__all__ = ["FAMILIES", "ListedModel", "list_models"]

FAMILIES: tuple[tuple[str, tuple[Model, ...]], ...] = (
    ("Baselines", BASELINES),
    ("Trees", TREES),
    ("Bagging and forests", FORESTS),
    ("AdaBoost", ADABOOST),
    ("Gradient boosting", (*BOOSTING, *BOOSTING_STYLES)),
    ("Linear models", LINEAR),
    ("Class densities", CLASS_MODELS),
    ("Neighbours", NEIGHBOURS),
    ("Kernels", KERNELS),
    ("Networks", NETWORKS),
    ("Selected columns", SELECTED),
    ("Averages of models", AVERAGES),
    ("Portfolio of preset best", PORTFOLIO),
)

# What each model is, in one line.
ABOUT = {
    "most_frequent": "predicts the most frequent class, whatever the columns are",
    "mean": "predicts the mean, whatever the columns are",
    "cart": "one tree of binary splits, limited by depth or leaves",
    "pruned_tree": "one tree, pruned by cost complexity",
    "reduced_error_tree": "one tree, pruned by its errors on held-out rows",
    "bagging": "trees on bootstrap samples of the rows, averaged",
    "random_subspaces": "trees on random columns, averaged",
    "random_patches": "trees on random rows and columns, averaged",
    "class_switching": "trees on rows with randomly switched classes, averaged",
    "random_forest": "bagged trees whose splits choose among random columns",
    "extra_trees": "trees whose thresholds are drawn at random, averaged",
    "adaboost": "trees on rows reweighted by the errors before",
    "discrete_adaboost": "AdaBoost for two classes, with votes",
    "adaboost_m1": "AdaBoost for several classes, with votes",
    "adaboost_m2": "AdaBoost by pseudo-loss",
    "adaboost_mr": "AdaBoost by ranking of the classes",
    "samme": "AdaBoost for several classes with a multi-class exponential loss",
    "real_adaboost": "AdaBoost with probabilities instead of votes",
    "gentle_adaboost": "AdaBoost with bounded Newton steps",
    "logitboost": "boosting of the logistic loss by Newton steps",
    "adaboost_r": "AdaBoost for quantities",
    "schapire_boosting": "the first boosting: majorities of three trees",
    "gradient_boosting": "trees on binned columns, each fitted to the gradient of the loss",
    "friedman_boosting": "gradient boosting on exact splits with line search",
    "category_boosting": "gradient boosting that splits categories in sets",
    "ordered_boosting": "symmetric trees with ordered target statistics of categories",
    "dart": "gradient boosting that drops earlier trees at random",
    "goss": "gradient boosting on the rows of the largest gradients",
    "stochastic_boosting": "gradient boosting on random rows and columns",
    "random_threshold_boosting": "gradient boosting of trees with random thresholds",
    "linear_leaf_boosting": "gradient boosting of trees with linear models in the leaves",
    "additive_boosting": "one curve for each column, boosted: readable",
    "pairwise_boosting": "curves for columns and surfaces for pairs: readable",
    "exponential_boosting": "gradient boosting of the exponential loss",
    "robust_boosting": "gradient boosting of losses that resist outliers",
    "logarithmic_boosting": "gradient boosting of the target's logarithm",
    "logistic": "logistic regression with an L2 penalty",
    "linear": "least squares",
    "ridge": "least squares with an L2 penalty",
    "lasso": "least squares with an L1 penalty, which drops columns",
    "elastic_net": "least squares with L1 and L2 penalties",
    "naive_bayes": "normal densities of independent columns",
    "mixed_naive_bayes": "independent columns, each with a density of its kind",
    "bayesian_network": "binned columns in a network of dependencies",
    "lda": "normal densities with one covariance matrix",
    "qda": "normal densities with a covariance matrix for each class",
    "rda": "between linear and quadratic discriminant analysis",
    "shrunken_centroids": "class means, shrunk to the overall mean",
    "diagonal_lda": "normal densities with one variance for each column",
    "kernel_density": "smoothed densities of the classes",
    "neighbours": "the mean of the k nearest rows",
    "svm": "support vectors with a Gaussian kernel",
    "kernel_ridge": "ridge regression with a Gaussian kernel",
    "network": "one hidden layer of neurons",
    "mrmr": "columns of much relevance and little redundancy, then a linear model",
    "jmi": "columns by joint mutual information, then neighbours",
    "forest_selected": "columns by their importance in a forest, then a linear model",
    "forward_selected": "columns added one at a time to a linear model",
    "backward_selected": "columns removed one at a time from a linear model",
    "principal_components": "a linear model of the principal components",
    "bayesian_averaging": "linear models weighted by their posterior probability",
    "dynamic_selection": "for each row, the members that are good near it",
    "best_random_splits": "boosted trees with random thresholds",
    "best_linear": "a linear model with standardized columns",
    "best_leafwise": "boosted trees grown leaf by leaf",
    "best_network": "a small network with standardized columns",
    "best_svm": "support vectors on at most 10,000 rows",
    "best_levelwise": "boosted trees grown level by level on random rows and columns",
    "best_extra_trees": "300 trees with random thresholds",
    "best_symmetric": "boosted symmetric trees",
    "best_fine_leafwise": "boosted trees with small leaves",
    "best_ranked_network": "a small network on ranks",
    "best_linear_leaves": "boosted trees with linear models in the leaves",
    "best_crossed_leafwise": "boosted trees with generated columns",
    "best_crossed_random_splits": "boosted trees with random thresholds and generated columns",
    "best_ranked_linear": "a linear model of ranks",
    "best_forest": "300 trees on bootstrap samples",
    "best_large_leafwise": "boosted trees with many leaves",
    "best_small_leafwise": "boosted trees with few leaves",
    "best_neighbours": "nearest neighbours on at most 50,000 rows",
    "best_dart": "boosted trees that drop earlier ones at random",
}


@dataclass(frozen=True)
class ListedModel:
    """A model of the catalogue as it is listed.

    Attributes
    ----------
    family, key, name, about : str
    tasks : tuple of str
        Of "classification", "binary" (two classes only) and "regression".
    presets : tuple of str
        The presets that try it by default.
    """

    family: str
    key: str
    name: str
    about: str
    tasks: tuple[str, ...]
    presets: tuple[str, ...]


def list_models() -> list[ListedModel]:
    """List the catalogue by family; the two tasks of a model are one entry.

    Examples
    --------
    >>> [model.key for model in list_models() if model.family == "Trees"]
    ['cart', 'pruned_tree', 'reduced_error_tree']
    """
    return [
        _list_model(family, [model for model in models if model.key == key])
        for family, models in FAMILIES
        for key in dict.fromkeys(model.key for model in models)
    ]


def _list_model(family: str, entries: Sequence[Model]) -> ListedModel:
    first = entries[0]
    presets = [preset.key for preset in PRESETS.values() if _is_in(first, preset)]
    names = dict.fromkeys(model.name for model in entries)
    return ListedModel(
        family,
        first.key,
        " / ".join(names),
        ABOUT[first.key],
        tuple(model.task for model in entries),
        tuple(presets),
    )


def _is_in(model: Model, preset: Preset) -> bool:
    word = PORTFOLIO_WORD if model.bag else ALL
    is_core = model.core and CORE in preset.models
    return model.key in preset.models or word in preset.models or is_core
