"""Base learners that scikit-learn lacks: classifiers by Bayes' rule."""

from arboleda.learners._diagonal_lda import DiagonalLDA
from arboleda.learners._mixed_naive_bayes import MixedNaiveBayes
from arboleda.learners._regularization_plane import RegularizationPlane
from arboleda.learners._regularized_discriminant_analysis import RegularizedDiscriminantAnalysis

__all__ = [
    "DiagonalLDA",
    "MixedNaiveBayes",
    "RegularizationPlane",
    "RegularizedDiscriminantAnalysis",
]
