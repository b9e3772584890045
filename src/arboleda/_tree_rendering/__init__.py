"""Rendering of trees as text and SVG, independent of estimators.

A caller describes a tree by its nodes and texts; ``boxes`` places them, ``svg`` draws them,
``legend`` explains the colours of classes and ``text_lines`` prints the tree.
"""
