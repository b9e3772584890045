"""The only importer of the compiled engine: Python's tables, threads and seeds become its own."""

from sklearn.base import BaseEstimator

# An estimator's first repr() imports what writes it. It is imported with the classes: a fork beside
# a thread that is importing leaves the child with a module that nobody completes.
repr(BaseEstimator())
