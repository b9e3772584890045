"""Combined models: what the models of a study say together.

A combination is learned from what its members said of rows held out, judged by what it says of
folds that it did not learn from, tested with members that were fitted on all training rows, and
kept as one model.
"""
