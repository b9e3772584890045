"""What the catalogue needs to know of a study: sizes, kinds of columns, and limits of a fit."""

import numpy as np

from arboleda.catalogue import Setting
from arboleda.study.config.presets import PRESETS
from arboleda.study.config.settings import Settings
from arboleda.study.problem import StudyProblem
from arboleda.study.results.calibration import FITS
from arboleda.study.splitting import Split
from arboleda.tables.features import Features

__all__ = ["describe_setting"]

# The fraction of a time budget that an exact method may take if an approximation exists, and the
# cost of its test in fits of a fold.
EXACT_SHARE, TEST_FITS = 0.25, 1.5
# Folds within a fit that give probabilities to a classifier of decision values.
CALIBRATION_FOLDS = 3


def describe_setting(
    problem: StudyProblem, split: Split, features: Features, settings: Settings
) -> Setting:
    """Return what the catalogue needs to know of the table."""
    return Setting(
        n_rows=len(split.train),
        n_classes=len(problem.target.labels),
        seed=settings.random_state,
        categorical=features.categorical,
        binary=features.binary,
        n_columns=features.x.shape[1],
        min_fit_rows=_fewest_rows(split),
        max_exact_seconds=_exact_seconds(settings, len(split.folds)),
        calibration_folds=_count_calibration_folds(problem, split, settings),
        max_landmarks=None if settings.time_budget else PRESETS[settings.preset].max_landmarks,
    )


def _count_calibration_folds(problem: StudyProblem, split: Split, settings: Settings) -> int:
    """Return the folds that calibrate decision values in a fit: as many as each class has rows."""
    n_classes = len(problem.target.labels)
    if not n_classes or not PRESETS[settings.preset].calibrates:
        return 0
    counts = [np.bincount(problem.target.y[fit], minlength=n_classes) for fit, _ in split.folds]
    return min(CALIBRATION_FOLDS, *(int(count.min()) for count in counts))


def _exact_seconds(settings: Settings, n_folds: int) -> float:
    """Return the maximum seconds of an exact fit by a method that can be approximated.

    With a time budget, one candidate on all folds and its test may take a fraction of it.
    """
    most = PRESETS[settings.preset].exact_fit
    if settings.time_budget is None:
        return most
    return min(most, EXACT_SHARE * settings.time_budget / (n_folds + TEST_FITS))


def _fewest_rows(split: Split) -> int:
    """Return the rows of the smallest fit: calibration splits the rows of a fold once more."""
    fewest = min(len(fit) for fit, _ in split.folds)
    return fewest // (FITS + 1) if split.ordered else fewest * (FITS - 1) // FITS
