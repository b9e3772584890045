"""The data of a study: a table is read, prepared, checked and split.

In the order of their use: `reading` reads files (`csv_reader`, `table_files`) and frames into a
`table`, and `chunked_reader` reads files larger than memory. A `recipe`, with its `conditions`,
drops rows and merges values; `external_test` appends a separate test table. `target` and `features`
infer the task and the role of each column. `splitting` makes the test and the folds, by groups and
times with `splitters`. `preparation` transforms the features of each fold, where `cross_search`
selects `feature_crosses`. `describe` and `data_checks` write the notes and cautions of the report.
"""
