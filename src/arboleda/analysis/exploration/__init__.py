"""Exploration of a table before modelling: the code behind ``arboleda explore``.

``explore`` goes from a table to facts, which `arboleda.reports` draws. ``explored_table`` encodes
the columns; ``problems``, ``relations`` and ``structure`` compute parts of the facts.
"""
