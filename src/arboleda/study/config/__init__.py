"""Options of a study.

``settings.py`` declares every option once, with the types and parsers of ``parsing.py`` and
``schemes.py``; ``declaration.py`` states what a declaration holds. ``options.py`` checks what a
user wrote against the declarations, and ``study_file.py`` reads and writes ``study.toml``.
``presets.py`` holds the models and search strategies of each preset.
"""
