"""Exploration of a table before modelling: the code behind ``arboleda explore``."""
