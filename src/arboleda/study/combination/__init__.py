"""Combined models: ensembles of the models of a study.

A combination is fitted to its members' out-of-fold predictions, scored by cross-fitting on folds
that it was not fitted to, tested with members fitted to all training rows, and saved as one model.
"""
