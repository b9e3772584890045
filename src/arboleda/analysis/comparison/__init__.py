"""Comparison of finished studies: the code behind ``arboleda compare``."""
