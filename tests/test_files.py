"""A file is replaced completely or left unchanged."""

import errno
import os
from pathlib import Path

import pytest

from arboleda._utils.files import write_atomically


def test_writes_text_as_utf8_and_bytes_as_they_are(tmp_path: Path) -> None:
    write_atomically(tmp_path / "text", "añil\r\n\N{GREEK SMALL LETTER ALPHA}")
    write_atomically(tmp_path / "bytes", b"\x00\xff")
    assert (tmp_path / "text").read_bytes() == "añil\r\nα".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"
    assert {file.name for file in tmp_path.iterdir()} == {"text", "bytes"}


def test_a_lone_surrogate_does_not_lose_the_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "text", "caf\udce9")
    assert (tmp_path / "text").read_bytes() == b"caf\\udce9"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_keeps_the_old_content_and_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "facts.json"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_kept_and_its_target_written(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_special_files_are_not_replaced(tmp_path: Path) -> None:
    """Replacing a device by a file would destroy it."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder"):
        with pytest.raises(OSError, match="it is not a file"):
            write_atomically(tmp_path / name, "new")
    assert (tmp_path / "pipe").is_fifo()
    assert {file.name for file in tmp_path.iterdir()} == {"pipe", "link", "folder"}


def test_a_link_to_itself_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="it is a link to itself"):
        write_atomically(tmp_path / "loop", "new")
    assert [file.is_symlink() for file in tmp_path.iterdir()] == [True]


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "facts.json", "{}")
    finally:
        os.umask(before)
    assert (tmp_path / "facts.json").stat().st_mode & 0o777 == 0o640


def test_a_long_name_is_supported(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("n" * 250), "x")
    assert (tmp_path / ("n" * 250)).read_text() == "x"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_atomically(tmp_path / "nowhere" / "facts.json", "{}")


def test_a_missing_folder_is_reported_with_the_given_path(tmp_path: Path) -> None:
    path = tmp_path / "none" / "facts.json"
    with pytest.raises(FileNotFoundError) as missing:
        write_atomically(path, "new")
    assert missing.value.filename == str(path)
