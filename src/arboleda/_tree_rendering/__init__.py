"""Trees in words and as a picture, from plain facts: no estimator is known here."""
