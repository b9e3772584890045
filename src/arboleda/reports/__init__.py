"""Pages: one HTML file each, drawn from facts and nothing else.

The shared parts are the shell (`rendering`), the style sheet (``templates/page.css``), tables and
figures (`tables`, `figures`, `tree_drawing`), words (`wording`) and languages (`translation`, with
the catalogues in ``locales``). Each kind of page has a folder: `study`, `explore`, `explanation`
and `comparison`, and a template of its name in ``templates``; that of a study is split by section
in ``templates/study``. The texts that facts contain are in `fact_names` and `fact_texts`. A page
imports nothing from `arboleda.study`, which computes the facts.
"""
