"""The pages of an explanation: of a model and of one row.

``model_page`` and ``row_page`` make the values of the templates, ``cards`` the boxes on columns,
and ``wording`` their sentences.
"""
