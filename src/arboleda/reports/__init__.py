"""Pages: one HTML file each, drawn from facts and nothing else.

The shared parts are the shell (`rendering`), the style sheet (``templates/page.css``), tables and
figures (`tables`, `figures`, `tree_drawing`), words (`wording`) and languages (`translation`).
Each kind of page has a folder: `study`, `explore`, `explanation` and `comparison`. A page imports
nothing from `arboleda.study`, which computes the facts.
"""
