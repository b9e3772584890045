"""Interface to the compiled engine, which no other package imports."""

from sklearn.base import BaseEstimator

# An estimator's first repr() imports a module. Import it now: a fork while another thread imports
# leaves the child process with an incomplete module.
repr(BaseEstimator())
