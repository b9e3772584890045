"""Check that no file in git names a place of one machine: a home folder, a private registry.

    python tools/check_places.py [ROOT]

Prints one line per finding and exits with 1 if there is any.
"""

import re
import subprocess
import sys
from pathlib import Path

FORBIDDEN = {
    r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)(?:/|\b)": "a folder of one machine",
    r"/tmp/(?!\$|\{)\w": "a path below /tmp; use a temporary folder instead",
    r"(?i)\bindex-url\b|\bpip\.conf\b|\bPIP_[A-Z_]*INDEX\w*": "a package registry's setting",
    r"(?i)https?://[^\s/]*(?:pypi|artifactory|nexus|devpi|jfrog)": "a package registry's host",
    r"https?://(?:\d{1,3}\.){3}\d{1,3}|https?://[\w-]+:\d+": "a numbered or unqualified host",
}
HERE = "tools/check_places.py"  # it lists the forbidden patterns itself


def main(root: Path) -> int:
    """Print the findings below a folder; return 1 if there are any."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True
    ).stdout.decode()
    found = [line for name in listed.split("\0") if name for line in findings(root, name)]
    for line in found:
        print(line)
    return 1 if found else 0


def findings(root: Path, name: str) -> list[str]:
    """Return a line for each forbidden place in a file."""
    path = root / name
    if name == HERE or not path.is_file():  # a deleted file is listed until it is committed
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []  # a picture or another binary file
    return [
        f"{name}:{number}: {reason}: {match[0]}"
        for number, line in enumerate(lines, start=1)
        for pattern, reason in FORBIDDEN.items()
        if (match := re.search(pattern, line))
    ]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))
