"""The label of rejected rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["labels_with_reject"]


def labels_with_reject(classes: npt.NDArray[Any], label: Any) -> npt.NDArray[Any]:
    """Append the reject label to the classes, in a type that holds all labels.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    label : label or None
        None: -1 where the classes are numbers, else "reject".

    Raises
    ------
    ValueError
        If the label is one of the classes.
    """
    numeric = classes.dtype.kind in "biuf"
    if label is None:
        label = -1 if numeric else "reject"
    if any(label == known for known in classes.tolist()):
        raise ValueError(
            f"reject_label={label!r} is one of the classes: choose a label that is not a class"
        )
    added = np.asarray([label])
    is_same_kind = added.dtype.kind in "biuf" if numeric else added.dtype.kind == classes.dtype.kind
    if is_same_kind:
        return np.concatenate([classes, added])
    labels = np.empty(len(classes) + 1, dtype=object)
    labels[:] = [*classes.tolist(), label]
    return labels
