"""The only importer of the compiled engine: Python's tables, threads and seeds become its own."""
