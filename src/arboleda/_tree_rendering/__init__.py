"""Rendering of trees as text and SVG, independent of estimators."""
