"""scikit-learn's own checks of the base learners."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import (
    DiagonalLDA,
    KernelDensityClassifier,
    MixedNaiveBayes,
    NearestShrunkenCentroids,
    RegularizedDiscriminantAnalysis,
    ThreePieceClassifier,
)

_CONFIGURATIONS = [
    MixedNaiveBayes(),
    MixedNaiveBayes(alpha=0.0, var_smoothing=1e-3),
    DiagonalLDA(),
    KernelDensityClassifier(),
    KernelDensityClassifier(bandwidth="scott", kernel="exponential"),
    KernelDensityClassifier(bandwidth=1.0, kernel="tophat", standardize=False),
    NearestShrunkenCentroids(),
    NearestShrunkenCentroids(shrink_threshold=0.5),
    RegularizedDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(0.5, 0.1),
    RegularizedDiscriminantAnalysis(0.0, 0.0, standardize=False),
    ThreePieceClassifier(),
]


@parametrize_with_checks(_CONFIGURATIONS)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
