"""The report of a study: one module for each group of sections."""
