"""Base learners that scikit-learn lacks: classifiers by Bayes' rule."""

from arboleda.learners._mixed_naive_bayes import MixedNaiveBayes

__all__ = ["MixedNaiveBayes"]
