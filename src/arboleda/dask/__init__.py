"""Independent fits on the workers of Dask: studies, grid searches, forests, bagging.

A task is a fit that needs no other one: a fold of a candidate, a block of a forest's trees, a
member of an ensemble. Its result depends on the data, the parameters and the seed alone, so any
number of workers gives the same bytes, also if one is lost meanwhile and its tasks run again.

``handshake.py`` checks that the workers have this process's environment, ``tasks.py`` places the
data, submits tasks and receives their results, and ``clients.py`` connects the command. Nothing
here imports Dask before it is used; ``pip install 'arboleda[dask]'`` installs it.
"""
