"""Base learners that scikit-learn lacks: Bayes classifiers, and a weak learner.

Each estimator has a file of its name. ``_bayes_rule`` is the base of the classifiers by Bayes'
rule; the modules ``_bayesian_network_*``, ``_variable_elimination`` and ``_directed_graph`` make
up Bayesian networks, and ``_gaussian_classes`` the discriminant analyses.
"""

from arboleda.learners._bayesian_network_classifier import BayesianNetworkClassifier
from arboleda.learners._diagonal_lda import DiagonalLDA
from arboleda.learners._directed_graph import DirectedGraph
from arboleda.learners._kernel_density_classifier import KernelDensityClassifier
from arboleda.learners._mixed_naive_bayes import MixedNaiveBayes
from arboleda.learners._nearest_shrunken_centroids import NearestShrunkenCentroids, ShrinkagePath
from arboleda.learners._regularized_discriminant_analysis import (
    RegularizationPlane,
    RegularizedDiscriminantAnalysis,
)
from arboleda.learners._three_piece_classifier import ThreePieceClassifier

__all__ = [
    "BayesianNetworkClassifier",
    "DiagonalLDA",
    "DirectedGraph",
    "KernelDensityClassifier",
    "MixedNaiveBayes",
    "NearestShrunkenCentroids",
    "RegularizationPlane",
    "RegularizedDiscriminantAnalysis",
    "ShrinkagePath",
    "ThreePieceClassifier",
]
