"""Tables as people keep them: files and data frames, read into columns and prepared.

`reading` reads files (`csv_reader`, `table_files`) and frames into a `table`, and `chunked_reader`
reads files larger than memory. A `recipe`, with its `conditions`, drops rows and merges values.
`target` and `features` infer the task and the role of each column; a `layout` encodes the columns
of later tables in the same way. `describe` computes the statistics of columns.
"""
