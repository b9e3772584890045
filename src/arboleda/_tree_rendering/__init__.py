"""Rendering of trees as text and SVG, independent of estimators.

A caller describes a tree by its nodes and texts; ``boxes`` wraps and places them, ``svg`` draws
them, and ``legend`` explains the colours of classes.
"""
