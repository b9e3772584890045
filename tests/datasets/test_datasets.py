"""Tables from folders of any layout, and from a server that can fail, return errors or hang."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.datasets import _datasets, load, names
from arboleda.datasets._datasets import CATALOGUE

_ADULT = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, "
    "40, United-States, "
)
ADULT_DATA = f"{_ADULT}<=50K\n\n".encode()
ADULT_TEST = f"|1x3 Cross validator\n{_ADULT}>50K.\n\n".encode()
SPAM = (",".join(["0.5"] * 57) + ",1\r\n").encode()
HEART = b"63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,?,6.0,0\n"
LETTERS = b"T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n"
HOUSES = b"longitude,total_bedrooms,median_house_value\n-122.2,,452600.0\n"
MEMORY = b",date,price\n0,1957.0,411041792.0\n"
IMAGES = bytes(16) + bytes(range(256)) * 6 + bytes(32)  # two images of 784 pixels
LABELS = bytes(8) + bytes([7, 2])
FILES: dict[str, dict[str, bytes]] = {
    "adult": {"adult.test": ADULT_TEST, "adult.data": ADULT_DATA},
    "california_housing": {"housing.csv": HOUSES},
    "heart_cleveland": {"processed.cleveland.data": HEART},
    "letter_recognition": {"letter-recognition.data": LETTERS},
    "mnist": {
        "train-images-idx3-ubyte": IMAGES,
        "train-labels-idx1-ubyte": LABELS,
        "t10k-images-idx3-ubyte": IMAGES,
        "t10k-labels-idx1-ubyte": LABELS,
    },
    "ram_price": {"ram_price.csv": MEMORY},
    "spambase": {"spambase.data": SPAM},
}


class Server:
    """Returns the contents of `pages`, or the bytes of `raw`; records the requested paths."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.raw: bytes | None = None
        self.is_over = threading.Event()
        self.requested: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requested.append(self.path)
                if server.raw is not None:
                    self.wfile.write(server.raw)
                    if not server.raw:
                        server.is_over.wait()
                    return
                content = server.pages.get(self.path)
                self.send_response(404 if content is None else 200)
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, format: str, *args: Any) -> None:
                """Silent."""

        self._http = ThreadingHTTPServer(("localhost", 0), Handler)
        self.url = f"http://localhost:{self._http.server_address[1]}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self.is_over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def published(server: Server, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Serve a small table as its home serves the whole one, with the sums of the small one."""
    entry, files = CATALOGUE[name], FILES[name]
    sources = []
    for source in entry.sources:
        content = files[source.file]
        kind = source.digest.split(":")[0]
        path = "/" + source.url.split("/", 3)[3]
        if path.endswith(".zip"):
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
                for member, text in files.items():
                    packed.writestr(member, text)
            server.pages[path] = archive.getvalue()
        else:
            server.pages[path] = gzip.compress(content) if path.endswith(".gz") else content
        digest = f"{kind}:{hashlib.new(kind, content).hexdigest()}"
        sources.append(replace(source, url=server.url + path, digest=digest))
    monkeypatch.setitem(CATALOGUE, name, replace(entry, sources=tuple(sources)))


@pytest.mark.parametrize("name", FILES)
def test_downloaded_and_local_files_are_equal(
    name: str, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    published(server, monkeypatch, name)
    fetch = load(name, cache=tmp_path / "cache")
    for packed in (False, True):
        folder = tmp_path / f"packed {packed}" / name
        folder.mkdir(parents=True)
        for file, content in FILES[name].items():
            if packed:
                (folder / f"{file}.gz").write_bytes(gzip.compress(content))
            else:
                (folder / file).write_bytes(content)
        pd.testing.assert_frame_equal(load(name, folder).frame, fetch.frame)
        pd.testing.assert_frame_equal(load(name, str(folder.parent)).frame, fetch.frame)
    assert fetch.target in fetch.frame
    assert fetch.target not in fetch.X
    assert fetch.y.name == fetch.target
    assert fetch.home.startswith("https://")


def test_cached_files_are_not_downloaded_again(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    published(server, monkeypatch, "adult")
    monkeypatch.setenv("ARBOLEDA_CACHE", str(tmp_path))
    load("adult")
    n_requested = len(server.requested)
    load("adult")
    assert len(server.requested) == n_requested
    assert (tmp_path / "adult" / "adult.data").read_bytes() == ADULT_DATA
    (tmp_path / "adult" / "adult.data").write_bytes(b"damaged")
    load("adult")
    assert len(server.requested) == n_requested + 1
    assert (tmp_path / "adult" / "adult.data").read_bytes() == ADULT_DATA


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"<html>moved</html>", "housing.csv from .* does not have the digest sha256:"),
        (gzip.compress(HOUSES)[:-12], "is not an archive that contains housing.csv"),
        (b"", "housing.csv from .* does not have the digest"),
        (None, "cannot be downloaded from .*Not Found.*load\\('california_housing', folder="),
    ],
    ids=["page", "cut", "empty", "none"],
)
def test_a_file_with_another_checksum_is_refused(
    sent: bytes | None,
    message: str,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    published(server, monkeypatch, "california_housing")
    path = next(iter(server.pages))
    server.pages = {} if sent is None else {path: sent}
    with pytest.raises(OSError if sent is None else ValueError, match=message):
        load("california_housing", cache=tmp_path)
    assert not list(tmp_path.rglob("*.csv"))


@pytest.mark.parametrize("sent", [b"no archive", b"PK\x05\x06" + bytes(18)])
def test_an_invalid_or_empty_archive_is_refused(
    sent: bytes, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    published(server, monkeypatch, "spambase")
    server.pages = dict.fromkeys(server.pages, sent)
    with pytest.raises(ValueError, match=r"is not an archive that contains spambase.data"):
        load("spambase", cache=tmp_path)


def test_oversized_downloads_are_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    published(server, monkeypatch, "ram_price")
    monkeypatch.setattr(_datasets, "_MAX_BYTES", 10)
    with pytest.raises(ValueError, match="more than 10 bytes"):
        load("ram_price", cache=tmp_path)


@pytest.mark.parametrize(
    "raw",
    [b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nshort", b""],
    ids=["no HTTP", "cut short", "stands still"],
)
def test_errors_name_an_unreachable_server(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, raw: bytes
) -> None:
    published(server, monkeypatch, "ram_price")
    monkeypatch.setattr(_datasets, "_TIMEOUT", 0.2)
    server.raw = raw
    with pytest.raises(OSError, match=f"ram_price cannot be downloaded from {server.url}"):
        load("ram_price", cache=tmp_path)
    assert len(server.requested) == 1


def test_without_a_network_the_error_suggests_a_folder(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    published(server, monkeypatch, "ram_price")
    entry = CATALOGUE["ram_price"]
    nowhere = replace(entry.sources[0], url="http://nowhere.invalid/ram_price.csv")
    monkeypatch.setitem(CATALOGUE, "ram_price", replace(entry, sources=(nowhere,)))
    with pytest.raises(OSError, match=r"without a network, pass the folder"):
        load("ram_price", cache=tmp_path)


def test_tables_are_read_from_one_file(tmp_path: Path) -> None:
    (tmp_path / "adult.csv").write_text("age,workclass,income\n39,?,<=50K\n")
    adult = load("adult", tmp_path).frame
    assert adult["workclass"].isna().tolist() == [True]
    (tmp_path / "spam_esl.csv.gz").write_bytes(gzip.compress(b"test,word,spam\n1,0.5,0\n"))
    assert list(load("spambase", tmp_path).frame) == ["word", "spam"]
    (tmp_path / "vw.csv.gz").write_bytes(gzip.compress(b"model,price\n Golf,7000\n"))
    assert load("uk_used_cars", tmp_path).frame["model"].tolist() == [" Golf"]
    arrays = {
        "X_train": np.zeros((2, 784), "uint8"), "y_train": np.array([1, 2], "uint8"),
        "X_test": np.ones((1, 784), "uint8"), "y_test": np.array([3], "uint8"),
    }  # fmt: skip
    np.savez(tmp_path / "mnist.npz", **arrays)
    mnist = load("mnist", tmp_path)
    assert mnist.y.tolist() == [1, 2, 3]
    assert mnist.X.to_numpy().dtype == np.uint8
    assert mnist.X.sum(axis=1).tolist() == [0, 0, 784]


def test_adult_has_its_test_rows_first_without_full_stops(
    tmp_path: Path,
) -> None:
    for file, content in FILES["adult"].items():
        (tmp_path / file).write_bytes(content)
    frame = load("adult", tmp_path).frame
    assert frame["income"].tolist() == [">50K", "<=50K"]
    assert frame["occupation"].isna().all()
    assert frame["age"].dtype == np.int64


@pytest.mark.parametrize("name", names())
def test_a_folder_without_the_data_set_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"does not contain {name}: put"):
        load(name, tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist or is not a folder"):
        load(name, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "file"),
    [("mnist", "mnist.npz"), ("spambase", "spam_esl.csv.gz"), ("adult", "adult.csv")],
)
def test_a_damaged_file_is_named(name: str, file: str, tmp_path: Path) -> None:
    (tmp_path / file).write_bytes(b"\x1f\x8b damaged" if file.endswith("gz") else b"")
    with pytest.raises(ValueError, match=f"{file} cannot be read"):
        load(name, tmp_path)


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(ValueError, match="name must be one of adult, .*, got 'titanic'"):
        load("titanic")


def test_a_table_behind_an_account_requires_a_folder() -> None:
    with pytest.raises(FileNotFoundError, match="cannot be downloaded without an account"):
        load("uk_used_cars")


@pytest.mark.parametrize(
    ("own", "shared", "wanted"),
    [("/a", "/b", "/a"), ("", "/b", "/b/arboleda"), ("", "", "/c/.cache/arboleda")],
)
def test_the_cache_folder_can_be_set(
    own: str, shared: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARBOLEDA_CACHE", own)
    monkeypatch.setenv("XDG_CACHE_HOME", shared)
    monkeypatch.setenv("HOME", "/c")
    assert _datasets.cache_folder(None) == Path(wanted)
    assert _datasets.cache_folder("here") == Path("here")


def test_errors_name_a_truncated_archive(tmp_path: Path) -> None:
    whole = io.BytesIO()
    np.savez(whole, X_train=np.zeros((2, 28, 28)))
    (tmp_path / "mnist.npz").write_bytes(whole.getvalue()[:500])
    with pytest.raises(ValueError, match=r"mnist\.npz cannot be read"):
        load("mnist", tmp_path)
