"""Check the built wheel: small, typed, with the compiled module and its stub, and nothing else.

python tools/check_wheel.py FOLDER
"""

import sys
import zipfile
from pathlib import Path

LIMIT_MB = 3.0
MODULE_LIMIT_MB = 6.0


def main(folder: Path) -> int:
    """Print what is wrong with the only wheel in a folder; return 1 if anything is."""
    (wheel,) = folder.glob("arboleda-*.whl")
    size = wheel.stat().st_size / 1e6
    files = zipfile.ZipFile(wheel)
    names = files.namelist()
    faults = [f"{name} does not belong in a wheel" for name in names if not _belongs(name)]
    if size >= LIMIT_MB:
        faults.append(f"{size:.1f} MB is not below {LIMIT_MB} MB")
    for needed in ("arboleda/py.typed", "arboleda/_native.pyi"):
        if needed not in names:
            faults.append(f"{needed} is missing")
    modules = [
        name for name in names if name.startswith("arboleda/_native.") and name.endswith(".so")
    ]
    if not modules:
        faults.append("the compiled module arboleda/_native is missing")
    for module in modules:
        size_of_module = files.getinfo(module).file_size / 1e6
        if size_of_module >= MODULE_LIMIT_MB:
            faults.append(f"{module}: {size_of_module:.1f} MB is not below {MODULE_LIMIT_MB} MB")
    print(f"{wheel.name}: {size:.2f} MB, {len(names)} files")
    for fault in faults:
        print(f"{wheel.name}: {fault}")
    return 1 if faults else 0


def _belongs(name: str) -> bool:
    top = name.split("/", maxsplit=1)[0]
    return (top == "arboleda" or top.endswith(".dist-info")) and "__pycache__" not in name


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
