"""The metrics of a study: how each is computed, their choice, and metrics of the user.

`measures` has the kinds of metrics and computes those of the table `arboleda.reports.metric_names`;
`choice` finds the metric of a study; `user_function` loads a metric that the user has written.
"""
