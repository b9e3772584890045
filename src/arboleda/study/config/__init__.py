"""Options of a study.

``settings`` declares every option once, with the types and parsers of ``declaration`` and
``schemes``. ``options`` checks what a user wrote against the declarations, and reads and writes
``study.toml``. ``presets`` holds the models and search strategies of each preset.
"""
