"""The files of a study: facts, fitted models, the layout of its table, its rows, and exports."""
