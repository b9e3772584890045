"""Bootstrap samples as splits: the bag is the training set, the rows left out are the test set."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

Rows = npt.NDArray[np.intp]


class BootstrapSplit(BaseShuffleSplit):  # type: ignore[misc]
    """Bootstrap splitter: trains on N of N rows drawn with replacement, tests on the others.

    It is a scikit-learn splitter, for ``cv=``. A bag has about 63.2 % of the rows, some of them
    more than once; a bag that leaves no row out is drawn again.

    Parameters
    ----------
    n_splits : int, default=50
        Number of bags.
    random_state : int, RandomState or None, default=None
        Seed of the bags; with an int each call of ``split`` draws the same bags.

    See Also
    --------
    bootstrap_error : The .632 and .632+ estimates of the error from such splits.

    References
    ----------
    B. Efron, R. Tibshirani (1993), "An introduction to the bootstrap", chapter 17.

    Examples
    --------
    >>> from arboleda.model_selection import BootstrapSplit
    >>> for bag, left_out in BootstrapSplit(n_splits=2, random_state=1).split(list("abcde")):
    ...     print(bag, left_out)
    [3 4 0 1 3] [2]
    [0 0 1 4 4] [2 3]
    """

    def __init__(self, n_splits: int = 50, *, random_state: Any = None) -> None:
        if not isinstance(n_splits, Integral) or isinstance(n_splits, bool) or n_splits < 1:
            raise ValueError(f"n_splits must be a whole number of at least 1; got {n_splits!r}")
        super().__init__(n_splits=n_splits, random_state=random_state)

    def _iter_indices(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Rows, Rows]]:
        n_rows = _num_samples(X)
        if n_rows < 2:
            raise ValueError(
                "a bag of one row leaves no row out for testing: at least 2 rows are required"
            )
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            left_out = np.empty(0, dtype=np.intp)
            while left_out.size == 0:
                bag: Rows = rng.randint(n_rows, size=n_rows)
                left_out = np.setdiff1d(np.arange(n_rows), bag)
            yield bag, left_out
