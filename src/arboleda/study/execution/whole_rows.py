"""The rows of a table that is larger than memory, prepared as a model takes them, in a file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arboleda._engine.coded_table import CodedTable
from arboleda._utils.errors import StudyError
from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.catalogue.columnwise import CROSS_FITTED
from arboleda.study.plan import Plan
from arboleda.tables.chunked_reader import Chunk
from arboleda.tables.layout import make_layout

__all__ = ["WholeRows", "reads_codes"]

_MAX_BINS = 255
_TARGET = "target"


def reads_codes(estimator: Any, style: str) -> bool:
    """Return whether an estimator of the catalogue is fitted to a `CodedTable` in little memory.

    Boosting by histograms is: it reads the codes where they are, and its trees have few leaves.
    Trees of forests grow with the rows. The generated columns of style "crossed" are chosen anew in
    each fit, and linear leaves need the values.
    """
    return (
        isinstance(estimator, HistGradientBoostingClassifier | HistGradientBoostingRegressor)
        and style in ("none", "native")
        and estimator.max_bins == _MAX_BINS
        and estimator.category_encoding in ("auto", "native")
        and not estimator.linear_leaves
    )


class WholeRows:
    """Writes the training rows of the whole table, as the models of a plan take them.

    These are all rows but those of the plan's test. A preparation is fitted to the training rows of
    the sample; where it replaces categories by means of the target, these rows are left out: the
    means would tell their own target.

    Parameters
    ----------
    plan : Plan
        It has a sample.
    """

    def __init__(self, plan: Plan) -> None:
        assert plan.sample is not None
        self._plan = plan
        self._sample = plan.sample
        role = plan.roles[plan.target.name]
        roles = {**plan.roles, plan.target.name: replace(role, role="feature")}
        self._layout = make_layout(plan.table.columns, roles, plan.settings.merge)
        self._values = np.unique(plan.table.column(plan.target.name).values)

    @property
    def n_rows(self) -> int:
        """Training rows of the whole table."""
        return self._sample.n_rows - len(self._plan.split.test)

    def fit_preparation(self, style: str, preparation: Any) -> Any:
        """Return the preparation, fitted to the training rows of the sample."""
        plan = self._plan
        x, y, train = plan.features.x, plan.target.y, plan.split.train
        # It also transforms rows to score: one.
        return plan.shared.prepared.prepare(style, preparation, x, y, train, train[:1]).preparation

    def write(self, path: Path, preparation: Any, categorical: Any, threads: int) -> int:
        """Write the prepared rows to the file of a `CodedTable`; return their number.

        Parameters
        ----------
        path : Path
        preparation : transformer or "passthrough"
            Fitted.
        categorical : "from_dtype" or list of int
            As in the estimator.
        threads : int

        Raises
        ------
        ValueError
            If a value cannot be read (`StudyError`), or a column has more than 255 categories.
        """
        return len(
            CodedTable.from_frames(
                self._iterate(preparation),
                path=path,
                target=_TARGET,
                categorical_features=None if isinstance(categorical, str) else categorical,
                n_jobs=threads,
            )
        )

    def _iterate(self, preparation: Any) -> Iterator[pa.Table]:
        left_out = self._sample.rows[self._plan.split.test]
        if _learns_targets(preparation):
            left_out = self._sample.rows
        limit = self._plan.settings.max_table_size
        for chunk in self._layout.iterate_chunks(self._sample.source, max_table_size=limit):
            rows = np.arange(chunk.first, chunk.first + chunk.raw.data.num_rows)
            x, y, is_known = self._encode(chunk)
            kept = is_known & ~np.isin(rows, left_out)
            x = x[kept] if preparation == "passthrough" else preparation.transform(x[kept])
            columns = {f"x{j}": pa.array(x[:, j]) for j in range(x.shape[1])}
            yield pa.table({**columns, _TARGET: pa.array(y[kept])})

    def _encode(self, chunk: Chunk) -> tuple[Any, npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Return the features of a chunk, its target, and whether the target is known."""
        try:
            encoded = self._layout.encode_raw(chunk.raw)
        except StudyError as error:
            if chunk.first:
                raise StudyError(f"In the rows after the first {chunk.first:,}: {error}") from error
            raise
        place = encoded.names.index(self._plan.target.name)
        x, values = np.delete(encoded.x, place, axis=1), encoded.x[:, place]
        target = self._plan.target
        if not target.labels:
            is_known = ~np.isnan(values)
            self._check_missing(chunk, ~is_known)
            return x, values, is_known
        if place in encoded.levels:
            values = np.where(values < 0, np.nan, values)
        self._check_missing(chunk, np.isnan(values))
        y = np.minimum(np.searchsorted(self._values, values), len(self._values) - 1)
        # A class that the sample does not have is too rare to be learned.
        is_known = self._values[y] == values
        return x, 1 - y if target.is_reversed else y, is_known

    def _check_missing(self, chunk: Chunk, missing: npt.NDArray[np.bool_]) -> None:
        if missing.any() and not self._plan.settings.drop_missing_target:
            row = chunk.first + int(np.argmax(missing)) + 1
            raise StudyError(
                f"The target column {self._plan.target.name!r} is missing in data row {row:,}; "
                "remove such rows with --drop-missing-target, or fill them in."
            )


def _learns_targets(preparation: Any) -> bool:
    """Return whether a fitted preparation replaces categories by means of the target."""
    steps = getattr(preparation, "transformers_", ())
    return any(name == CROSS_FITTED and len(columns) for name, _, columns in steps)
