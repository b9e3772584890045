"""Complete tables, written as their sources publish them, have the published checksums."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.conftest import shared_data

from arboleda.datasets import load
from arboleda.datasets._datasets import CATALOGUE

pytestmark = pytest.mark.slow


def whole(file: str) -> pd.DataFrame:
    return pd.read_csv(shared_data(file), dtype=str, keep_default_na=False)


def adult() -> dict[str, bytes]:
    lines = [", ".join(row) for row in whole("adult/adult.csv.gz").itertuples(index=False)]
    test = "".join(f"{line}.\n" for line in lines[:16_281])
    train = "".join(f"{line}\n" for line in lines[16_281:])
    return {
        "adult.test": f"|1x3 Cross validator\n{test}\n".encode(),
        "adult.data": f"{train}\n".encode(),
    }


def spambase() -> dict[str, bytes]:
    frame = whole("spambase/spam_esl.csv.gz").drop(columns="test")
    lines = [",".join(row) for row in frame.itertuples(index=False)]
    return {"spambase.data": "".join(f"{line}\r\n" for line in lines).encode()}


def mnist() -> dict[str, bytes]:
    with np.load(shared_data("mnist/mnist.npz")) as arrays:
        return {
            f"{prefix}-{kind}": head + arrays[f"{part}_{suffix}"].tobytes()
            for prefix, suffix, n in (("train", "train", 60_000), ("t10k", "test", 10_000))
            for kind, part, head in (
                ("images-idx3-ubyte", "X", np.array([2051, n, 28, 28], ">i4").tobytes()),
                ("labels-idx1-ubyte", "y", np.array([2049, n], ">i4").tobytes()),
            )
        }


@pytest.mark.parametrize("make", [adult, spambase, mnist], ids=lambda make: make.__name__)
def test_published_files_are_read(make: object, tmp_path: Path) -> None:
    name = make.__name__  # type: ignore[attr-defined]
    files = make()  # type: ignore[operator]
    for source in CATALOGUE[name].sources:
        assert source.has_digest_of(files[source.file]), source.file
        (tmp_path / source.file).write_bytes(files[source.file])
    folder = shared_data(name)
    pd.testing.assert_frame_equal(load(name, tmp_path).frame, load(name, folder).frame)


@pytest.mark.parametrize(
    "name", ["california_housing", "heart_cleveland", "letter_recognition", "ram_price"]
)
def test_files_are_kept_as_published(name: str) -> None:
    folder = shared_data(name)
    for source in CATALOGUE[name].sources:
        packed = folder / f"{source.file}.gz"
        content = (
            gzip.decompress(packed.read_bytes())
            if packed.exists()
            else (folder / source.file).read_bytes()
        )
        assert source.has_digest_of(content)
