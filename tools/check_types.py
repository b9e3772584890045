"""Check with pyright that at least 95 % of the public names have complete types.

python tools/check_types.py [NAME ...]   # also prints what is missing in names that begin so

Checked is the installed package, or the one first on PYTHONPATH. pyright must be on the PATH
(`pip install pyright`); it needs Node. The bases of the estimators are scikit-learn's, which has no
types of its own: they are those of the package scikit-learn-stubs, which editors use as well.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

LEAST = 0.95


def main(*prefixes: str) -> int:
    """Print the share of complete types; return 1 if it is too small."""
    pyright = shutil.which("pyright")
    if pyright is None:
        print("check_types: pyright is missing; install it with: pip install pyright")
        return 1
    # pyright looks for packages where the first Python on the PATH has them.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [pyright, "--verifytypes", "arboleda", "--ignoreexternal", "--outputjson"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    result = json.loads(done.stdout)["typeCompleteness"]
    for line in list_gaps(result["symbols"], prefixes):
        print(line)
    share = result["completenessScore"]
    counts = result["exportedSymbolCounts"]
    print(f"{share:.1%} of {sum(counts.values())} public names have complete types")
    return int(share < LEAST)


def list_gaps(symbols: list[dict[str, Any]], prefixes: tuple[str, ...]) -> list[str]:
    """Return a line for each direct fault in the names that begin with a prefix."""
    return [
        f"{symbol['name']}: {' '.join(fault['message'].split())}"
        for symbol in symbols
        for fault in symbol["diagnostics"]
        if prefixes and symbol["name"].startswith(prefixes) and fault["severity"] == "error"
    ]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
