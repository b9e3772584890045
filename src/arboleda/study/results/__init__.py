"""From outcomes to facts: what a study writes to ``results.json`` after its models are fitted.

The typed facts are those of `arboleda.facts`; ``make_facts`` builds them. `arboleda.scoring` scores
predictions; ``selection`` and ``comparison`` correct for the choice of the best model;
``calibration`` and ``holdout_facts`` turn held-out predictions into probabilities, costs and scores
of subgroups; ``best_model``, ``explained_model`` and ``importance`` explain. ``predict_file`` and
``prediction_columns`` predict new tables; ``leaderboard`` prints the models.
"""
