"""The text file of LightGBM: lines of names and values, a block for each tree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._errors import ModelFormatError
from arboleda._strict_json import parse_strict_json
from arboleda.importers._fields import whole

Block = dict[str, str]

_VERSIONS = {"v3", "v4"}
_PANDAS = "pandas_categorical:"


@dataclass(frozen=True)
class ModelText:
    """What the file says, by lines.

    Parameters
    ----------
    header : dict of str
        Values by name; "" for lines that are a name alone.
    trees : list of dict of str
    parameters : dict of str
        Parameters of the training, where the file has them.
    categories : list, or None
        Of each categorical column of a data frame its labels, in the order of their codes.
    """

    header: Block
    trees: list[Block]
    parameters: Block
    categories: list[Any] | None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return whole(text_entry(self.header, "max_feature_idx"), "max_feature_idx") + 1

    @property
    def trees_a_round(self) -> int:
        """Trees of a round: one for each output."""
        name = "num_tree_per_iteration"
        return whole(text_entry(self.header, name), name, 1)

    @property
    def is_mean(self) -> bool:
        """Whether the mean of the rounds counts, not their sum."""
        return "average_output" in self.header


def read_text(content: bytes) -> ModelText:
    """Read the file.

    Raises
    ------
    ModelFormatError
        If it is no such file, of another version, or ends early.
    """
    try:
        lines = [line.removesuffix("\r") for line in content.decode().split("\n")]
    except UnicodeDecodeError as error:
        raise ModelFormatError("it is not UTF-8") from error
    if lines[0].strip() != "tree":
        raise ModelFormatError(
            "it does not begin as the text of a LightGBM model does: give a file that save_model "
            "wrote"
        )
    if "end of trees" not in lines:
        raise ModelFormatError("it ends early: there is no line 'end of trees'")
    end = lines.index("end of trees")
    begins = [i for i in range(1, end) if lines[i].startswith("Tree=")]
    header = _block(lines[1 : begins[0] if begins else end])
    version = header.get("version", "none")
    if version not in _VERSIONS:
        raise ModelFormatError(f"its version is {version[:20]!r}, and v3 and v4 can be read")
    trees = [_block(lines[begin:stop]) for begin, stop in pairwise([*begins, end])]
    for number, tree in enumerate(trees):
        if tree["Tree"] != str(number):
            raise ModelFormatError(f"tree {tree['Tree'][:20]} stands in the place of tree {number}")
    return ModelText(header, trees, _parameters(lines[end + 1 :]), _categories(lines[end + 1 :]))


def text_entry(block: Block, name: str) -> str:
    """Value of a name.

    Raises
    ------
    ModelFormatError
        If it is not there.
    """
    if name not in block:
        raise ModelFormatError(f"it has no {name}")
    return block[name]


def float_entries(block: Block, name: str, size: int) -> npt.NDArray[np.float64]:
    """Numbers of a name, none of them NaN."""
    found = _numbers(block, name, size, np.float64)
    if np.isnan(found).any():
        raise ModelFormatError(f"{name} holds NaN")
    return found


def integer_entries(block: Block, name: str, size: int | None = None) -> npt.NDArray[np.int64]:
    """Whole numbers of a name."""
    return _numbers(block, name, size, np.int64)


def _numbers(block: Block, name: str, size: int | None, dtype: Any) -> npt.NDArray[Any]:
    words = text_entry(block, name).split()
    if size is not None and len(words) != size:
        raise ModelFormatError(f"{name} has {len(words)} entries, not {size}")
    try:
        return np.array(words, dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise ModelFormatError(f"{name} holds what is no such number") from error


def _block(lines: list[str]) -> Block:
    block: Block = {}
    for line in lines:
        name, _, value = line.partition("=")
        if not name:
            continue
        if name in block:
            raise ModelFormatError(f"it names {name[:60]} twice")
        block[name] = value
    return block


def _parameters(lines: list[str]) -> Block:
    """Lines such as "[learning_rate: 0.1]"."""
    inner = [line[1:-1] for line in lines if line.startswith("[") and line.endswith("]")]
    return dict(line.split(": ", 1) for line in inner if ": " in line)


def _categories(lines: list[str]) -> list[Any] | None:
    for line in lines:
        if line.startswith(_PANDAS):
            found = parse_strict_json(line[len(_PANDAS) :], "it")
            if found is not None and not (
                isinstance(found, list) and all(isinstance(labels, list) for labels in found)
            ):
                raise ModelFormatError("pandas_categorical is no list of lists")
            return found
    return None
