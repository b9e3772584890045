"""From what the user names to a checked table, its target, its features and its splits.

``reading`` reads a file (``csv_reader``, ``table_files``, ``chunked_reader``) or a frame into a
``table``; ``recipe`` drops rows and merges values by ``conditions``; ``target``, ``features`` and
``splitting`` decide what is predicted, from what, and on which rows. ``preparation`` is fitted in
each fold, also with ``feature_crosses``. ``describe`` and ``data_checks`` state what a reader of
the report should know of the table.
"""
