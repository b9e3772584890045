"""Tables that other libraries learn from, and how their raw scores are compared with ours."""

from typing import Any

import numpy as np
import pandas as pd

Floats = np.ndarray[Any, np.dtype[np.float64]]


def mixed_frame(n: int = 600, seed: int = 0, missing: float = 0.1) -> pd.DataFrame:
    """Numbers of several scales, two columns of categories, values missing in all but one."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "plain": random.normal(size=n),
            "small": random.normal(size=n) * 1e-6,
            "whole": random.integers(-5, 6, n).astype(float),
            "huge": random.normal(size=n) * 1e12,
        }
    )
    frame = frame.mask(random.random(frame.shape) < missing)
    frame["full"] = random.normal(size=n)
    for name, labels in (("town", list("qwertyuiopas")), ("size", [3, 10, 7, 1])):
        codes = random.integers(0, len(labels), n)
        codes[random.random(n) < missing] = -1
        frame[name] = pd.Categorical.from_codes(codes, labels)
    return frame


def signal(frame: pd.DataFrame) -> Floats:
    """A target that depends on every column, including its missing values."""
    town = frame["town"].cat.codes.to_numpy()
    size = frame["size"].cat.codes.to_numpy()
    return np.asarray(
        frame["plain"].fillna(0.7)
        + np.sign(frame["small"].fillna(0))
        + 0.2 * frame["whole"].fillna(3)
        + 1e-12 * frame["huge"].fillna(5e11)
        + (town % 3 == 1)
        + (size == 2)
        - 0.5 * (size == -1)
    )


def classes(frame: pd.DataFrame, n_classes: int) -> Any:
    """Class numbers of about equally many rows, of the signal."""
    found = signal(frame)
    edges = np.quantile(found, np.arange(1, n_classes) / n_classes)
    return np.digitize(found, edges)


def float32_bound(model: Any) -> float:
    """By how much sums of single precision may differ from ours, for a model of XGBoost.

    Each of the T + 1 additions, and each leaf value, is rounded to float32.
    """
    ensemble = model.ensemble_
    per_round = [np.abs(tree.value_rows).max() for tree in ensemble.trees]
    reach = np.abs(ensemble.start).max() + sum(per_round)
    return float((len(per_round) + 3) * 2.0**-24 * reach)
