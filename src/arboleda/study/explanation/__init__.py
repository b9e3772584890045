"""Explanation of the best model of a study: the code behind ``arboleda explain``."""
