"""Models of how the columns are distributed within each class, turned round by Bayes' rule."""

from typing import Any

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB

from arboleda.learners import (
    BayesianNetworkClassifier,
    DiagonalLDA,
    KernelDensityClassifier,
    MixedNaiveBayes,
    NearestShrunkenCentroids,
    RegularizedDiscriminantAnalysis,
)
from arboleda.study.catalogue import spaces
from arboleda.study.catalogue.model import Model, Params, Setting, no_parameters

__all__ = ["CLASS_MODELS"]

# Every row that is asked about is compared with all rows learned from.
KERNEL_DENSITY_ROWS = 5_000


def _mixed_naive_bayes(setting: Setting, params: Params) -> Any:
    return MixedNaiveBayes(
        categorical_features=list(setting.categorical),
        binary_features=list(setting.binary),
        **params,
    )


def _mixed_naive_bayes_grid(setting: Setting) -> list[dict[str, Any]]:
    # Without a column that is counted, the prior of the counts changes nothing.
    priors = (0.5, 1.0, 10.0) if setting.categorical or setting.binary else (1.0,)
    return [{"alpha": prior, "var_smoothing": share} for share in (1e-9, 1e-3) for prior in priors]


def _bayesian_network(setting: Setting, params: Params) -> Any:
    """Numbers are cut into bins that tell the classes apart; all else is counted as it is."""
    counted = sorted({*setting.categorical, *setting.binary})
    return BayesianNetworkClassifier(categorical_features=counted, **params)


CLASS_MODELS: tuple[Model, ...] = (
    Model(
        key="naive_bayes",
        name="Gaussian naive Bayes",
        task="classification",
        make=lambda s, p: GaussianNB(**p),
        grid=lambda s: [{"var_smoothing": v} for v in (1e-9, 1e-6, 1e-3, 1e-1)],
        space=spaces.naive_bayes,
    ),
    Model(
        key="mixed_naive_bayes",
        name="Naive Bayes of mixed columns",
        task="classification",
        make=_mixed_naive_bayes,
        grid=_mixed_naive_bayes_grid,
        style="none",
        engine="arboleda",
        core=False,
    ),
    Model(
        key="bayesian_network",
        name="Bayesian network",
        task="classification",
        make=_bayesian_network,
        grid=lambda s: [
            {"structure": structure, "alpha": prior}
            for structure in ("fan", "tan", "naive")
            for prior in (1.0, 10.0)
        ],
        style="none",
        engine="arboleda",
        core=False,
    ),
    Model(
        key="lda",
        name="Linear discriminant analysis",
        task="classification",
        make=lambda s, p: LinearDiscriminantAnalysis(**p),
        grid=lambda s: [
            {"solver": "svd", "shrinkage": None},
            {"solver": "lsqr", "shrinkage": 0.1},
            {"solver": "lsqr", "shrinkage": "auto"},
        ],
    ),
    # Without any shrinkage a column that is constant within a class leaves no covariance.
    Model(
        key="qda",
        name="Quadratic discriminant analysis",
        task="classification",
        make=lambda s, p: QuadraticDiscriminantAnalysis(**p),
        grid=lambda s: [{"reg_param": share} for share in (0.01, 0.1, 0.5)],
        core=False,
    ),
    # These two choose what they shrink by cross-validation of their own.
    Model(
        key="rda",
        name="Regularised discriminant analysis",
        task="classification",
        make=lambda s, p: RegularizedDiscriminantAnalysis(random_state=s.seed, **p),
        grid=no_parameters,
        engine="arboleda",
        core=False,
    ),
    Model(
        key="shrunken_centroids",
        name="Nearest shrunken centroids",
        task="classification",
        make=lambda s, p: NearestShrunkenCentroids(random_state=s.seed, **p),
        grid=no_parameters,
        engine="arboleda",
        core=False,
    ),
    Model(
        key="diagonal_lda",
        name="Diagonal linear discriminant analysis",
        task="classification",
        make=lambda s, p: DiagonalLDA(**p),
        grid=no_parameters,
        engine="arboleda",
        core=False,
    ),
    Model(
        key="kernel_density",
        name="Kernel density classifier",
        task="classification",
        make=lambda s, p: KernelDensityClassifier(**p),
        grid=lambda s: [{"bandwidth": rule} for rule in ("cv", "scott")],
        engine="arboleda",
        max_rows=KERNEL_DENSITY_ROWS,
        core=False,
    ),
)
