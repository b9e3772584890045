"""Figures of all pages, drawn by matplotlib as inline SVG in the colours of the page.

``canvas`` has axes, colours and the conversion to SVG; the other modules have one function for each
figure.
"""
