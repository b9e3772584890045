"""Scores of models and predictions by named metrics, without plans or folders.

``choice`` finds a metric by its name, ``user_function`` loads one that the user has written, and
``measures`` has the kinds of metrics and computes those of `arboleda.reports.metric_names`, with
``areas`` and ``row_losses``. ``scores`` computes all metrics of a task, decisions by cost and the
.632+ estimate; ``intervals`` has the intervals and standard errors, ``paired_tests`` those of the
difference of two models; ``evaluate`` collects all facts on the test of a model. Studies score
models with them, and comparisons of studies the saved predictions.
"""
