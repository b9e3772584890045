"""Measure how plainly the code is named, and compare it with the bars of this project.

    python tools/report_names.py [ROOT]

Prints the share of functions in src whose name begins with a verb, and, by folder, how often forms
of tell, say and ask stand in identifiers, comments and docstrings (each occurrence counts). Exits
with 1 if a bar is missed.

Counted are functions and methods. Left out are names that are not ours to choose or are nouns by
convention: special methods, properties, setters, overloads, functions inside functions (values of
a formula, callbacks, closures), and methods of scikit-learn's interface that are no verbs, such as
``decision_function``; of its ``staged_predict`` the second word counts.

A name begins with a verb if its first word, leading underscores apart, is in VERBS; or is in
VERBS_OR_NOUNS and more words follow, not "of" or "by" first (``count_rows``, but neither ``count``
nor ``count_of_rows``); or opens a statement that is true or false (``is_fitted``, ``has_missing``);
or is "to" or "from" in the name of a conversion, as in Python's ``to_bytes`` and ``from_bytes``.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from source_words import CPP_FOLDERS, PYTHON_FOLDERS, list_files, read_texts, split_words

LEAST_VERB_SHARE = 0.6
MOST_FORMS = 150

FORMS = frozenset(
    "tell tells told telling say says said saying ask asks asked asking".split()  # noqa: SIM905
)
VERBS = frozenset(
    """
    accept accumulate add adjust advance aggregate agree align allocate allow analyse apply arrange
    assemble assign attach average begin bind blend boost break build calibrate call can capture
    cast check choose clear clip close collect combine compare compile complete compress compute
    concat concatenate configure convert copy correct create cross decide declare decode decompose
    decompress define delete derive describe detect determine discard dispatch divide download drop
    draw encode ensure enter enumerate escape evaluate exclude execute exit expand explain explore
    export extend extract fetch fill find finish fit flatten format gather generate get grow guess
    handle hold import impute include infer insert inspect install interpolate invert iter iterate
    join keep learn leave list load locate look make mark mask match merge minimize move multiply
    normalize notify open override pack pad parse permute pluralize poll predict prepare print
    propose prune put quote raise read reallocate receive recode reconcile redirect reduce refit
    refuse register reject release remember remove rename render reorder repeat replace require
    rescale reserve reset reshape resolve restore restrict return round route run save scan select
    send separate serialize set shift shorten show shrink shuffle simplify skip solve sort spell
    squeeze standardise standardize start stop store subtract suggest summarise summarize swap
    tabulate take tokenize transform translate transpose trim truncate try tune undo unpack unwrap
    update use validate verify visit wait walk warn weigh widen wrap write yield
    """.split()  # noqa: SIM905
)
VERBS_OR_NOUNS = frozenset(
    """
    bin box cap code count cut estimate filter fix group index label limit log map measure name
    note order place plot pool rank record report sample scale score search seed silence sketch
    split spread step sum switch trace train view watch
    """.split()  # noqa: SIM905
)
STATEMENTS = frozenset(
    "is are has have can needs accepts allows contains supports uses".split()  # noqa: SIM905
)
CONVERSIONS = frozenset({"to", "from"})
# Methods of scikit-learn's interface whose names are no verbs.
SKLEARN = frozenset(
    {
        "cost_complexity_pruning_path",
        "decision_function",
        "decision_path",
        "inverse_transform",
        "kneighbors",
        "partial_fit",
    }
)


def main(root: Path) -> int:
    """Print both measures of a folder; return 1 if a bar is missed."""
    names = list(list_functions(root / "src"))
    share = sum(map(begins_with_verb, names)) / max(len(names), 1)
    print(f"{share:.1%} of {len(names)} functions in src begin with a verb", end=" ")
    print(f"(at least {LEAST_VERB_SHARE:.0%})")
    forms = count_forms(root)
    for folder, count in forms.items():
        print(f"{folder}: {count} forms of tell, say and ask")
    total = sum(forms.values())
    print(f"all folders: {total} (at most {MOST_FORMS})")
    return 1 if share < LEAST_VERB_SHARE or total > MOST_FORMS else 0


def list_functions(folder: Path) -> Iterator[str]:
    """Yield the names of functions and methods that count, once for each definition."""
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"), str(path))
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        for body in (tree.body, *(node.body for node in classes)):
            for node in body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _counts(node):
                    yield node.name


def begins_with_verb(name: str) -> bool:
    """Return whether the name of a function begins with a verb, as the module defines it."""
    words = [word.lower() for word in name.split("_") if word]
    if words and words[0] == "staged":
        words = words[1:]
    if not words:
        return False
    first, following = words[0], words[1:2]
    if first in VERBS_OR_NOUNS:
        return bool(following) and following[0] not in {"of", "by"}
    if first in STATEMENTS | CONVERSIONS:
        return bool(following)
    return first in VERBS


def count_forms(root: Path) -> dict[str, int]:
    """Count forms of tell, say and ask in identifiers, comments and docstrings by folder."""
    counts = Counter[str]()
    for folder in (*PYTHON_FOLDERS, *CPP_FOLDERS):
        counts[folder] = sum(
            word in FORMS
            for path in list_files(root, folder)
            for text in read_texts(path)
            for word in split_words(text.text)
        )
    return dict(counts)


def _counts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    if node.name in SKLEARN or (node.name.startswith("__") and node.name.endswith("__")):
        return False
    return not any(
        word in ast.unparse(decorator)
        for decorator in node.decorator_list
        for word in ("property", "overload", ".setter", ".deleter")
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]))
