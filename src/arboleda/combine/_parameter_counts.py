"""The number of free parameters of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["count_parameters"]


def count_parameters(name: str, member: Any, n_classes: int | None) -> int:
    """Count the free parameters of a fitted model.

    For linear models these are the coefficients and intercepts (if each of K classes has a score,
    K - 1 scores are free), for Gaussian naive Bayes the means, variances and priors, for trees the
    values of the leaves.

    Parameters
    ----------
    name : str
    member : estimator
        Fitted; for a pipeline, the last step counts.
    n_classes : int or None

    Raises
    ------
    ValueError
        If the model is of any other kind.
    """
    model = member.steps[-1][1] if hasattr(member, "steps") else member
    n_values = 1 if n_classes is None else n_classes - 1
    if hasattr(model, "coef_") and not hasattr(model, "support_vectors_"):
        size = np.size(model.coef_) + np.size(getattr(model, "intercept_", 0.0))
        n_scores = np.atleast_2d(model.coef_).shape[0]
        return size if n_scores <= n_values else size * n_values // n_scores
    if hasattr(model, "theta_") and hasattr(model, "var_"):
        return int(np.size(model.theta_) + np.size(model.var_) + n_values)
    if hasattr(model, "get_n_leaves"):
        return int(model.get_n_leaves()) * n_values
    raise ValueError(
        f"the number of parameters of the member {name!r}, a {type(model).__name__}, is not known: "
        f"set n_parameters={{{name!r}: ...}} or criterion='held_out'"
    )
