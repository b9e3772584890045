"""Small mixins and helpers of estimators."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, TypeVar, overload

from sklearn.utils import Tags, get_tags

__all__ = ["FixedParameters"]


class FixedParameters:
    """Mixin of estimators that fix some parameters of a more general estimator.

    The subclass lists its own parameters in ``__init__`` and passes them, with the fixed ones, to
    the ``__init__`` of the general class. A fixed parameter is then a plain attribute, and
    `get_params`, model files and `repr` only include the listed parameters. Constraints of the
    other parameters are removed, as scikit-learn requires one entry per parameter.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        listed = inspect.signature(cls.__init__).parameters
        cls._parameter_constraints = {
            name: allowed for name, allowed in cls._parameter_constraints.items() if name in listed
        }


class StagedScores:
    """Mixin with the method `staged_score` for estimators with `staged_predict`."""

    @abstractmethod
    def staged_predict(self, X: Any) -> Iterable[Any]:
        """Yield the predictions of each stage."""

    @abstractmethod
    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        """Compute the score of predictions."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the `score` of each stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Yields
        ------
        score : float
        """
        for predicted in self.staged_predict(X):
            yield self._compute_score(y, predicted, sample_weight)


@contextmanager
def restore_on_failure(estimator: object) -> Iterator[None]:
    """Restore all attributes of an estimator if fitting raises an error."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


Item = TypeVar("Item")


class LazySequence(Sequence[Item], Generic[Item]):
    """Sequence whose entries are created on each access and not stored.

    As an estimator, a tree takes several times the memory that it takes in its forest.

    Parameters
    ----------
    make : callable
        Creates the entry of an index.
    length : int

    Examples
    --------
    >>> squares = LazySequence(lambda i: i * i, 4)
    >>> squares[-1], squares[1:3], list(squares)
    (9, [1, 4], [0, 1, 4, 9])
    """

    def __init__(self, make: Callable[[int], Item], length: int) -> None:
        self._make = make
        self._numbers = range(length)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, number: int) -> Item: ...

    @overload
    def __getitem__(self, number: slice) -> list[Item]: ...

    def __getitem__(self, number: int | slice) -> Item | list[Item]:
        if isinstance(number, slice):
            return [self._make(i) for i in self._numbers[number]]
        return self._make(self._numbers[number])

    def copy(self) -> list[Item]:
        """Create all entries and return them in a list, like `list.copy`."""
        return list(self)

    def __repr__(self) -> str:
        return f"<{len(self)} entries, created on access>"


def copy_input_tags(
    tags: Tags, estimator: Any, names: Sequence[str] = ("sparse", "allow_nan")
) -> None:
    """Copy what a member accepts as input to the tags of its ensemble."""
    accepted = get_tags(estimator).input_tags
    for name in names:
        setattr(tags.input_tags, name, getattr(accepted, name))
