"""Options of a study.

``settings`` declares every option once, as ``declaration`` describes, with the types of
``parsers`` and ``schemes``. ``options`` checks what a user wrote against the declarations, and
reads and writes ``study.toml``. ``costs`` makes the matrix of costs. ``presets`` holds the models
and search strategies of each preset.
"""
