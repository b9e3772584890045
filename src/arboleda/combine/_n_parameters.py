"""How many numbers a fitted model learned, where that can be told."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["n_parameters_of"]


def n_parameters_of(name: str, member: Any, n_classes: int | None) -> int:
    """Count the free parameters of a fitted model.

    Linear models count their coefficients and intercepts (of K classes with a score each, K - 1
    are free), Gaussian naive Bayes its means, variances and priors, a tree its leaves' values.

    Parameters
    ----------
    name : str
    member : estimator
        Fitted; of a pipeline the last step counts.
    n_classes : int or None

    Raises
    ------
    ValueError
        If the model is of another kind.
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
        f"how many parameters the member {name!r}, a {type(model).__name__}, has is not known: say "
        f"it, n_parameters={{{name!r}: ...}}, or set criterion='held_out'"
    )
