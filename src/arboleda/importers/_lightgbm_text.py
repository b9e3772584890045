"""LightGBM's text format: lines of names and values, with a block for each tree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._errors import ModelFormatError
from arboleda._strict_json import parse_strict_json
from arboleda.importers._fields import read_integer

Block = dict[str, str]

_VERSIONS = {"v3", "v4"}
_PANDAS = "pandas_categorical:"


@dataclass(frozen=True)
class ModelText:
    """Content of the file.

    Parameters
    ----------
    header : dict of str
        Values by name; "" for lines without a value.
    trees : list of dict of str
    parameters : dict of str
        Training parameters, if the file has them.
    categories : list, or None
        Labels of each categorical column of a data frame, in the order of their codes.
    """

    header: Block
    trees: list[Block]
    parameters: Block
    categories: list[Any] | None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return read_integer(read_text_entry(self.header, "max_feature_idx"), "max_feature_idx") + 1

    @property
    def n_trees_per_round(self) -> int:
        """Number of trees of a round, one for each output."""
        name = "num_tree_per_iteration"
        return read_integer(read_text_entry(self.header, name), name, 1)

    @property
    def is_mean(self) -> bool:
        """Whether the prediction is the mean of the rounds instead of their sum."""
        return "average_output" in self.header


def read_text(content: bytes) -> ModelText:
    """Read the file.

    Raises
    ------
    ModelFormatError
        If it is not such a file, has another version, or is truncated.
    """
    try:
        lines = [line.removesuffix("\r") for line in content.decode().split("\n")]
    except UnicodeDecodeError as error:
        raise ModelFormatError("it is not UTF-8") from error
    if lines[0].strip() != "tree":
        raise ModelFormatError(
            "it does not begin like the text of a LightGBM model: pass a file that save_model wrote"
        )
    if "end of trees" not in lines:
        raise ModelFormatError("it is truncated: there is no line 'end of trees'")
    end = lines.index("end of trees")
    begins = [i for i in range(1, end) if lines[i].startswith("Tree=")]
    header = _parse_block(lines[1 : begins[0] if begins else end])
    version = header.get("version", "none")
    if version not in _VERSIONS:
        raise ModelFormatError(f"its version must be v3 or v4, got {version[:20]!r}")
    trees = [_parse_block(lines[begin:stop]) for begin, stop in pairwise([*begins, end])]
    for number, tree in enumerate(trees):
        if tree["Tree"] != str(number):
            raise ModelFormatError(f"expected tree {number}, got tree {tree['Tree'][:20]}")
    return ModelText(
        header, trees, _parse_parameters(lines[end + 1 :]), _read_categories(lines[end + 1 :])
    )


def read_text_entry(block: Block, name: str) -> str:
    """Return the value of a name.

    Raises
    ------
    ModelFormatError
        If it is missing.
    """
    if name not in block:
        raise ModelFormatError(f"it has no {name}")
    return block[name]


def read_float_entries(block: Block, name: str, size: int) -> npt.NDArray[np.float64]:
    """Return the floats of a name, without NaN."""
    values = _parse_numbers(block, name, size, np.float64)
    if np.isnan(values).any():
        raise ModelFormatError(f"{name} holds NaN")
    return values


def read_integer_entries(block: Block, name: str, size: int | None = None) -> npt.NDArray[np.int64]:
    """Return the integers of a name."""
    return _parse_numbers(block, name, size, np.int64)


def _parse_numbers(block: Block, name: str, size: int | None, dtype: Any) -> npt.NDArray[Any]:
    words = read_text_entry(block, name).split()
    if size is not None and len(words) != size:
        raise ModelFormatError(f"{name} must have {size} entries, got {len(words)}")
    try:
        return np.array(words, dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise ModelFormatError(
            f"{name} holds a value that is not {np.dtype(dtype).name}"
        ) from error


def _parse_block(lines: list[str]) -> Block:
    block: Block = {}
    for line in lines:
        name, _, value = line.partition("=")
        if not name:
            continue
        if name in block:
            raise ModelFormatError(f"it has two lines {name[:60]}")
        block[name] = value
    return block


def _parse_parameters(lines: list[str]) -> Block:
    """Parse lines such as "[learning_rate: 0.1]"."""
    inner = [line[1:-1] for line in lines if line.startswith("[") and line.endswith("]")]
    return dict(line.split(": ", 1) for line in inner if ": " in line)


def _read_categories(lines: list[str]) -> list[Any] | None:
    for line in lines:
        if line.startswith(_PANDAS):
            categories = parse_strict_json(line[len(_PANDAS) :], "it")
            if categories is not None and not (
                isinstance(categories, list)
                and all(isinstance(labels, list) for labels in categories)
            ):
                raise ModelFormatError("pandas_categorical is not a list of lists")
            return categories
    return None
