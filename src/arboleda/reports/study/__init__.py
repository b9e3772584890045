"""The report of a study: one module for each group of sections.

``page`` lists the sections in their order; each section is a function that turns the facts
(``report_data``) into the values of its template.
"""
