"""Print the slowest files of a C++ build, from the log that Ninja keeps in its folder.

python tools/slowest_units.py FOLDER [--most 10] [--fail-over SECONDS]

Times are those of the wall, which other work on the machine lengthens: a unit fails if it took
longer than allowed and longer than a tenth of all units together.
"""

import argparse
import sys
from pathlib import Path


def main(folder: Path, most: int, fail_over: float | None) -> int:
    """Print the slowest units below a folder; return 1 if one took longer than allowed."""
    logs = sorted(folder.rglob(".ninja_log"))
    if not logs:
        print(f"{folder} holds no .ninja_log: build there with Ninja first.", file=sys.stderr)
        return 2
    seconds = {
        str(log.parent / unit): took for log in logs for unit, took in _read_log(log).items()
    }
    slowest = sorted(seconds.items(), key=lambda item: -item[1])
    print(f"{len(seconds)} units, {sum(seconds.values()):.0f} s in all; the slowest:")
    for unit, took in slowest[:most]:
        print(f"{took:7.1f} s  {unit}")
    if fail_over is None:
        return 0
    most_seconds = max(fail_over, sum(seconds.values()) / 10)
    too_slow = [unit for unit, took in slowest if took > most_seconds]
    for unit in too_slow:
        print(f"{unit} took longer than {most_seconds:.0f} s: split it.")
    return 1 if too_slow else 0


def _read_log(log: Path) -> dict[str, float]:
    """Return the seconds that each object of a log took when it was built last."""
    seconds = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        begin, end, _, output, _ = line.split("\t")
        # An earlier build may have had units that are no longer there.
        if output.endswith((".o", ".gch", ".pch")) and (log.parent / output).exists():
            seconds[output] = (int(end) - int(begin)) / 1000
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a build folder, or one that holds some")
    parser.add_argument("--most", type=int, default=10, help="how many to print (10)")
    parser.add_argument("--fail-over", type=float, help="fail if one took longer, in seconds")
    options = parser.parse_args()
    sys.exit(main(options.folder, options.most, options.fail_over))
