"""Facts: what is computed and drawn, as typed models with a JSON schema for each kind of page.

``study``, ``exploration``, ``explanation`` and ``comparison`` have the facts of one command each.
Those of a study consist of the facts on each ``model``, on the ``best_model`` and on ``rows``;
``model`` also has the base class. The schemas beside them are generated:
``python tools/write_schemas.py``.
"""
