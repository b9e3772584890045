"""No identifier is made of a retired word: names are the field's, so that readers can search.

    python tools/check_words.py [ROOT]

Data are read, computed and returned, models predict, errors state, reports show; forms of tell,
say, ask, answer and the like are for people. Prints one line per violation and exits with 1 if
there is any.
"""

import io
import keyword
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

# Words that no name of ours contains, and what stands in their place.
RETIRED = {
    **dict.fromkeys(("tell", "tells", "told", "telling"), "report, log, describe, show"),
    **dict.fromkeys(("say", "says", "said", "saying"), "predict, predictions, output"),
    **dict.fromkeys(("ask", "asks", "asked", "asking", "asker"), "request, select, option, test"),
    **dict.fromkeys(("answer", "answers", "answered", "answering"), "prediction, output, result"),
    **dict.fromkeys(("hear", "hears", "heard"), "receive"),
    **dict.fromkeys(("judge", "judges", "judged", "judging"), "score, validate, evaluate"),
    **dict.fromkeys(("teach", "teacher", "taught", "lesson"), "fit, fitter, task"),
    **dict.fromkeys(("mourn", "epitaph", "crew"), "exit, worker pool"),
    **dict.fromkeys(("sure", "sureness"), "certain, confidence, uncertainty"),
    **dict.fromkeys(("speech", "speak", "speaking", "spoken"), "locale"),
}

# Names that stay, each for a reason.
EXCEPTIONS = {
    "n_judged": "a field of the public OobCurve's native twin",
    "n_judged_": "a fitted attribute of dynamic selection, and a key of its files",
    "tell": "Optuna's method of a study, and of a file object",
    "ask": "Optuna's method of a study",
}

FOLDERS = ("src/arboleda", "tools")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def main(root: Path) -> int:
    """Print the violations below a folder; return 1 if there are any."""
    found = [*check_names(root), *check_modules(root)]
    for violation in found:
        print(violation)
    return 1 if found else 0


def check_names(root: Path) -> Iterator[str]:
    """Yield a line for each name of Python code that contains a retired word."""
    for path in _modules(root):
        seen = set[str]()
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
            name = token.string
            if token.type != tokenize.NAME or keyword.iskeyword(name) or name in seen:
                continue
            seen.add(name)
            for word in retired_words(name):
                here = f"{path.relative_to(root)}:{token.start[0]}"
                yield f"{here}: {name} has the word {word!r}; say {RETIRED[word]}"


def check_modules(root: Path) -> Iterator[str]:
    """Yield a line for each module or folder whose name contains a retired word."""
    for path in _modules(root):
        for word in retired_words(path.stem):
            yield f"{path.relative_to(root)}: the module has the word {word!r}"


def retired_words(name: str) -> list[str]:
    """Return the retired words that an identifier is made of."""
    if name in EXCEPTIONS:
        return []
    return [part.lower() for part in _PART.findall(name) if part.lower() in RETIRED]


def _modules(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.py"))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]))
