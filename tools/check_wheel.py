"""Check the built wheel: small, typed, with the compiled module and its stub, and nothing else.

python tools/check_wheel.py FOLDER
"""

import sys
import zipfile
from pathlib import Path

LIMIT_MB = 3.5
MODULE_LIMIT_MB = 6.0


def main(folder: Path) -> int:
    """Print what is wrong with the only wheel in a folder; return 1 if anything is."""
    wheel = find_wheel(folder)
    files = zipfile.ZipFile(wheel)
    names = files.namelist()
    size = wheel.stat().st_size / 1e6
    faults = list_faults(wheel.name, names)
    if size >= LIMIT_MB:
        faults.append(f"{size:.1f} MB is not below {LIMIT_MB} MB")
    for name in names:
        module_size = files.getinfo(name).file_size / 1e6
        if name.startswith("arboleda/_native.") and module_size >= MODULE_LIMIT_MB:
            faults.append(f"{name}: {module_size:.1f} MB is not below {MODULE_LIMIT_MB} MB")
    print(f"{wheel.name}: {size:.2f} MB, {len(names)} files")
    for fault in faults:
        print(f"{wheel.name}: {fault}")
    return 1 if faults else 0


def find_wheel(folder: Path) -> Path:
    """Return the only wheel of arboleda in a folder."""
    wheels = sorted(folder.glob("arboleda-*.whl"))
    if len(wheels) != 1:
        raise SystemExit(f"{folder} must hold one wheel of arboleda, but holds {len(wheels)}.")
    return wheels[0].resolve()


def list_faults(wheel_name: str, names: list[str]) -> list[str]:
    """Return one sentence for each fault in the name of a wheel and the names of its files."""
    faults = [f"{name} does not belong in a wheel" for name in names if not _belongs(name)]
    faults += [
        f"{needed} is missing"
        for needed in ("arboleda/py.typed", "arboleda/_native.pyi")
        if needed not in names
    ]
    compiled = [name for name in names if name.endswith((".so", ".pyd"))]
    if len(compiled) != 1 or not compiled[0].startswith("arboleda/_native."):
        faults.append(f"the compiled modules are {compiled}, not arboleda/_native alone")
        return faults
    python, abi, platform = wheel_name.removesuffix(".whl").split("-")[-3:]
    expected = _expected_tags(python, abi)
    if (python, abi) != expected:
        faults.append(f"{python}-{abi} should be {'-'.join(expected)}")
    suffix = ".abi3.so" if abi == "abi3" else f".cpython-{abi[2:]}-"
    if not platform.startswith("win") and suffix not in compiled[0]:
        faults.append(f"{compiled[0]} is not a module of {python}-{abi}")
    return faults


def _expected_tags(python: str, abi: str) -> tuple[str, str]:
    """Return the tags of a wheel: one for 3.11, one for all later versions with the GIL."""
    if python == "cp311" or abi == f"{python}t":
        return python, abi if abi.endswith("t") else python
    return "cp312", "abi3"


def _belongs(name: str) -> bool:
    top = name.split("/", maxsplit=1)[0]
    return (top == "arboleda" or top.endswith(".dist-info")) and "__pycache__" not in name


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
