"""Tables as people keep them: files and data frames, read into columns and prepared.

`reading` reads files (`csv_reader`, `table_files`) and frames into a `table`, and `chunked_reader`
reads files larger than memory. `column_reading` reads each column: `column_formats` chooses among
the formats of `number_parsing` and `date_parsing`, in which people write money, numbers, dates and
times. A `recipe`, with its `conditions`, drops rows and merges values. `target` and `features`
infer the task and the role of each column: `text_columns` decides what texts are, `text_encoding`
turns them into numbers, and a `layout` encodes the columns of later tables in the same way, with
`column_conversion`. `describe` computes the statistics of columns, and `column_plan` shows what
becomes of each; `column_entries` stores columns as plain values. `fitted_table` and `test_table`
join a target or test rows to a table.
"""
