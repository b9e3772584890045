"""The only importer of the compiled engine: Python's tables, threads and seeds on one side, its own
on the other."""
