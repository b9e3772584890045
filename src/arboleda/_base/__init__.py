"""What several families of estimators share, above the engine and below the families.

``tree_learner`` checks the arguments of `fit` for trees and forests, and ``targets`` encodes their
targets. ``mixins`` has small mixins, such as those of fixed parameters. ``members``,
``folds`` and ``held_out`` serve ensembles whose members are estimators of any kind:
their rows, metadata, splits, and the predictions for rows that a member was not fitted to.
``predictor`` predicts single rows, and ``parameter_names`` holds the names that other libraries
give to parameters. What only one family needs stays in the package of the family.
"""
