"""Interface to the compiled engine, which no other package imports.

Two kinds of modules: those that read tables, targets and weights of any container into the
engine's columns (``table``, ``target`` and what they use: ``frames``, ``arrays``, ``encoding``,
``labels``, ``columns``), and those that call a part of the engine and wrap its results
(``fit``, ``boosting``, ``adaboost``, ``bart``, ``tree``, ``forest``, ``ensemble``, ``combine``,
``model_file``). No estimator is defined here.
"""

from sklearn.base import BaseEstimator

# An estimator's first repr() imports a module. Import it now: a fork while another thread imports
# leaves the child process with an incomplete module.
repr(BaseEstimator())
