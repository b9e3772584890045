"""Explanation of the best model of a study: the code behind ``arboleda explain``.

``explain`` goes from the folder of a study to the facts of a model or of one row;
``contributions``, ``prediction`` and ``rows`` compute them, and `arboleda.reports` draws them.
"""
