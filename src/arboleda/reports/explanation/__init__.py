"""The pages of an explanation: of a model and of one row."""
