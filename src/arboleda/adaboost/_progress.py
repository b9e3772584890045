"""Lines about the rounds of a fit."""

import sys


def log_round(verbose: int, n_done: int, n_rounds: int, error: float) -> None:
    """Tell of a round: 1 about ten times, 2 each time; 0: say nothing."""
    step = 1 if verbose > 1 else max(1, n_rounds // 10)
    if verbose and (n_done % step == 0 or n_done == n_rounds):
        sys.stdout.write(f"round {n_done} of {n_rounds}, error {error:.4f}\n")
        sys.stdout.flush()
