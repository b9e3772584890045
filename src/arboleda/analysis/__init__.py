"""Analyses behind the commands beside ``arboleda study``, each from its input to facts.

`exploration` describes a table, `explanation` the predictions of a study's best model, and
`comparison` the differences between several studies. `arboleda.reports` draws the facts.
"""
