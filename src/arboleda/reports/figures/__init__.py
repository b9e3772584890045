"""Figures of all pages, drawn by matplotlib as inline SVG in the colours of the page."""
