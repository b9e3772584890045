"""Models of how the columns are distributed within each class, turned round by Bayes' rule."""

from typing import Any

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB

from arboleda.learners import MixedNaiveBayes
from arboleda.study.catalogue.model import Model, Params, Setting

__all__ = ["CLASS_MODELS"]


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


CLASS_MODELS: tuple[Model, ...] = (
    Model(
        key="naive_bayes",
        name="Gaussian naive Bayes",
        task="classification",
        make=lambda s, p: GaussianNB(**p),
        grid=lambda s: [{"var_smoothing": v} for v in (1e-9, 1e-6, 1e-3, 1e-1)],
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
)
