"""Combined models: ensembles of the models of a study.

A combination is fitted to its members' out-of-fold predictions, scored by cross-fitting on folds
that it was not fitted to, tested with members fitted to all training rows, and saved as one model:
``outcomes`` does this, by the ``methods``, which fit ``rules`` and ``boosted`` trees to the
predictions of the ``members``; ``estimators`` are the saved models.
"""
