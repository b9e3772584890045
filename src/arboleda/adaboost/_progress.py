"""Progress messages of a fit."""

import sys


def log_round(verbose: int, n_done: int, n_rounds: int, error: float) -> None:
    """Print the progress: about ten times if ``verbose`` is 1, every round if 2, never if 0."""
    step = 1 if verbose > 1 else max(1, n_rounds // 10)
    if verbose and (n_done % step == 0 or n_done == n_rounds):
        sys.stdout.write(f"round {n_done} of {n_rounds}, error {error:.4f}\n")
        sys.stdout.flush()
