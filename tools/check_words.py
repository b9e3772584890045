"""Check that no identifier contains a retired word: names are the field's, to be searchable.

    python tools/check_words.py [ROOT]

Data are read, computed and returned, models predict, errors state, reports show; forms of tell,
say, ask, answer and the like are for people. Checks the names of modules and all identifiers of
Python and C++, each once a file. Prints one line per violation, the number of them by folder on
standard error, and exits with 1 if there is any.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from source_words import CPP_FOLDERS, PYTHON_FOLDERS, list_files, read_texts, split_words

# Words that no name of ours contains, and what replaces them.
RETIRED = {
    **dict.fromkeys(("tell", "tells", "told", "telling"), "report, log, describe, show"),
    **dict.fromkeys(("say", "says", "said", "saying"), "predict, predictions, output"),
    **dict.fromkeys(("ask", "asks", "asked", "asking", "asker"), "request, select, option, test"),
    **dict.fromkeys(("answer", "answers", "answered", "answering"), "prediction, output, result"),
    **dict.fromkeys(("hear", "hears", "heard"), "receive"),
    **dict.fromkeys(("judge", "judges", "judged", "judging"), "score, validate, evaluate"),
    "verdict": "result",
    **dict.fromkeys(("teach", "teaches", "teacher", "taught", "lesson"), "fit, fitter, task"),
    **dict.fromkeys(("mourn", "epitaph", "crew"), "exit, worker pool"),
    **dict.fromkeys(("sure", "sureness"), "certain, confidence, uncertainty"),
    **dict.fromkeys(("speech", "speak", "speaks", "speaking", "spoken"), "locale"),
    **dict.fromkeys(("none", "nones"), "no, zero, empty, missing, invalid"),
    **dict.fromkeys(("bud", "buds"), "pending node"),
    "nearness": "proximity",
    "pushes": "contributions",
}

# Names that are retired as a whole, and what replaces them.
RETIRED_NAMES = {
    "AnyMembers": "EstimatorMembers",
    "BoostedNodes": "HistogramTreeBuilder",
    "CodedOnce": "SharedBinning",
    "as_before_if_it_fails": "restore_on_failure",
    "dealt_out": "kfold_splits",
    "do_job": "run_job",
    "finds_steps": "has_exact_leaf_step",
    "is_look": "is_low_fidelity",
    "made_facts": "generated_features",
    "named_model": "estimator_adapter",
    "no_error": "zero_error_interval",
    "parts_of_tables": "chunked_reader",
    "read_quickly": "read_float_matrix",
    "set_aside": "holdout_split",
}

# Names that stay, each for a reason.
EXCEPTIONS = {
    "n_judged": "a field of the public OobCurve's native twin",
    "n_judged_": "a fitted attribute of dynamic selection, and a key of its files",
    "tell": "Optuna's method of a study, and of a file object",
    "ask": "Optuna's method of a study",
    **dict.fromkeys(("none", "is_none", "PyErr_SetNone", "NoneType"), "Python's None"),
    "_missing_as_none": "it replaces missing values by Python's None",
    "kNone": "the number that stands for no row, no node, no column",
    "none_of": "an algorithm of C++",
}

# Names that stay in files whose stem contains a word: (name, word) -> reason.
LOCAL_EXCEPTIONS = {
    ("answers", "surrogate"): "a public parameter of surrogate_tree and surrogate_rules",
}


def main(root: Path) -> int:
    """Print the violations below a folder, count them by folder; return 1 if there are any."""
    total = 0
    for folder in (*PYTHON_FOLDERS, *CPP_FOLDERS):
        violations = list(check_folder(root, folder))
        for violation in violations:
            print(violation)
        if violations:
            print(f"{folder}: {len(violations)} violations", file=sys.stderr)
        total += len(violations)
    return 1 if total else 0


def check_folder(root: Path, folder: str) -> Iterator[str]:
    """Yield a line for each name of a folder's code, modules included, that has a retired word."""
    for path in list_files(root, folder):
        here = path.relative_to(root)
        for fault in find_faults(path.stem):
            yield f"{here}: the module {fault}"
        seen = {name for name, word in LOCAL_EXCEPTIONS if word in path.stem}
        for text in read_texts(path):
            if text.is_name and text.text not in seen:
                seen.add(text.text)
                for fault in find_faults(text.text):
                    yield f"{here}:{text.line}: {text.text} {fault}"


def find_faults(name: str) -> list[str]:
    """Return what is wrong with an identifier: retired itself, or made of retired words."""
    if name in EXCEPTIONS:
        return []
    if name in RETIRED_NAMES:
        return [f"is retired; use {RETIRED_NAMES[name]}"]
    words = dict.fromkeys(word for word in split_words(name) if word in RETIRED)
    return [f"has the word {word!r}; use {RETIRED[word]}" for word in words]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]))
