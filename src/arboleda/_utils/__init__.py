"""Helpers that know nothing of models, tables or the engine, and that every package may import.

``errors`` has the exceptions of the library and the detection of optional packages, ``files``
atomic writes and strict JSON, ``text`` and ``numbers`` the formatting of names and numbers,
``frames`` the creation of data frames and figures, ``results`` the base classes of what public
functions return, ``simple_plots`` plots of named numbers, ``sparse`` the validation of sparse
matrices, ``float32`` thresholds in single precision, and ``operating_system`` what Windows and the
POSIX family do differently. A helper that needs a model belongs to ``_base``.
"""
