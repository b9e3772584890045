"""Measure `import arboleda` in a fresh interpreter, without the start of the interpreter itself.

python tools/import_time.py
"""

import subprocess
import sys

LIMIT_S = 0.3
CODE = "import time; t = time.perf_counter(); import arboleda; print(time.perf_counter() - t)"


def main() -> int:
    """Print the best and the median of nine times; return 1 if the best exceeds the limit."""
    times = sorted(
        float(subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True).stdout)
        for _ in range(9)
    )
    print(
        f"import arboleda: {times[0] * 1e3:.1f} ms at best, {times[4] * 1e3:.1f} ms in the median"
    )
    return 1 if times[0] >= LIMIT_S else 0


if __name__ == "__main__":
    sys.exit(main())
