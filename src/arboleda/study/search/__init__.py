"""The search for each model's best candidate.

``strategies`` has the words (trial, fidelity, batch, strategy), the grid, halving and samplers;
``model_search`` runs the searches in rounds and holds the results of candidates; ``row_caps``
decides how many rows the fits may have in the time.
"""
