"""Jobs and how they run: in this process or in workers, within limits and a time budget.

A ``job`` fits and scores one pipeline. The ``executor`` runs the jobs that the ``ledger`` lacks in
the ``pool``, within the time budget, and reports their ``progress``. The ``prediction_store`` holds
the predictions of finished jobs.
"""
