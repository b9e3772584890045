"""The files of a study: facts, fitted models, the layout of its table, its rows, and exports.

``files`` writes and checks any file, ``index`` lists the models. ``model_files``, ``skops_file``
and ``combined_file`` save and load models, whose objects ``object_rules`` checks; ``layout`` and
``rows`` save what a model needs of the table. ``loaded`` is a study read back, ``estimators`` its
models, and ``exports`` writes them for other programs.
"""
