"""The generated stub of the compiled module gets the type arguments that nanobind leaves out."""

import ast
import runpy
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parents[2] / "bindings" / "complete_stub.py"

STUB = '''\
from collections.abc import Sequence
from typing import Annotated, overload

def f(a: list, b: Annotated[NDArray, dict(shape=(None,))] | None = None) -> tuple:
    """Takes a list, returns a tuple."""

def g(a: list[int], b: Sequence[list], c: dict = {}) -> dict[str, list]: ...
'''
COMPLETED = '''\
from collections.abc import Sequence
from typing import Annotated, Any, overload

def f(a: list[Any], b: Annotated[NDArray[Any], dict(shape=(None,))] | None = None) -> tuple[Any, ...]:
    """Takes a list, returns a tuple."""

def g(a: list[int], b: Sequence[list[Any]], c: dict[str, Any] = {}) -> dict[str, list[Any]]: ...
'''  # noqa: E501


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


def test_bare_containers_get_arguments(tool: dict[str, Any]) -> None:
    assert tool["complete_stub"](STUB) == COMPLETED


def test_nothing_is_completed_twice(tool: dict[str, Any]) -> None:
    assert list(tool["find_bare"](ast.parse(COMPLETED))) == []


def test_the_installed_stub_is_complete(tool: dict[str, Any]) -> None:
    text = resources.files("arboleda").joinpath("_native.pyi").read_text(encoding="utf-8")
    assert [name.id for name in tool["find_bare"](ast.parse(text))] == []
