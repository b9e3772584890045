"""Models of how the columns are distributed within each class, turned round by Bayes' rule."""

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB

from arboleda.study.catalogue.model import Model

__all__ = ["CLASS_MODELS"]

CLASS_MODELS: tuple[Model, ...] = (
    Model(
        key="naive_bayes",
        name="Gaussian naive Bayes",
        task="classification",
        make=lambda s, p: GaussianNB(**p),
        grid=lambda s: [{"var_smoothing": v} for v in (1e-9, 1e-6, 1e-3, 1e-1)],
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
