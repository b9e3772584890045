"""Read the identifiers, comments and docstrings of this project's Python and C++ files."""

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PYTHON_FOLDERS = ("src", "tests", "tools", "benchmarks", "examples", "docs")
CPP_FOLDERS = ("core", "bindings")
CPP_SUFFIXES = {".h", ".cc", ".cpp", ".inc"}

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
# A raw string, a string, a character (but not the mark in 1'000), a comment, or an identifier.
_CPP_TOKEN = re.compile(
    r'R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<name>(?<![\w'])[A-Za-z_]\w*)",
    re.DOTALL,
)


@dataclass(frozen=True)
class SourceText:
    """An identifier, a comment or a docstring, and the line on which it begins."""

    text: str
    line: int
    is_name: bool


def split_words(text: str) -> list[str]:
    """Return the words of an identifier or a sentence, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def list_files(root: Path, folder: str) -> list[Path]:
    """Return the Python or C++ files of a folder, without what was built or generated there."""
    suffixes = CPP_SUFFIXES if folder in CPP_FOLDERS else {".py"}
    return [
        path
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in suffixes
        and not {"build", "_build", "generated"} & set(path.relative_to(root).parts)
    ]


def read_texts(path: Path) -> Iterator[SourceText]:
    """Yield the identifiers, comments and docstrings of a file."""
    source = path.read_text("utf-8")
    return _read_python(source) if path.suffix == ".py" else _read_cpp(source)


def _read_python(source: str) -> Iterator[SourceText]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_name = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
        if is_name or token.type == tokenize.COMMENT:
            yield SourceText(token.string, token.start[0], is_name)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and (docstring := ast.get_docstring(node)):
            yield SourceText(docstring, node.body[0].lineno, is_name=False)


def _read_cpp(source: str) -> Iterator[SourceText]:
    for match in _CPP_TOKEN.finditer(source):
        if text := match["comment"] or match["name"]:
            line = source.count("\n", 0, match.start()) + 1
            yield SourceText(text, line, is_name=match["name"] is not None)
