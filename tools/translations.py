"""Extract the messages of the pages into their catalogues, and compile the catalogues.

    python tools/translations.py update     # new messages into the .po files, for a translator
    python tools/translations.py compile    # .po -> .mo, after a translator's work
    python tools/translations.py check      # print what is missing or stale; exits with 1 if any

Needs Babel, which the extra ``dev`` installs. At run time the pages read the compiled catalogues
by Python's own gettext.
"""

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "arboleda"
CATALOGUES = SOURCE / "reports" / "locales"
FOLDERS = ("reports", "_tree_rendering", "page_export")
KEYWORDS = {
    "_": None,
    "N_": None,
    "word": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "NP_": ((1, "c"), 2),
}
METHODS = [("**.py", "python"), ("**.j2", "jinja2")]
OPTIONS = {"**.j2": {"trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}}


def extract_messages() -> Catalog:
    """Return the messages of the code and the templates, without translations."""
    catalogue = Catalog(project="arboleda", fuzzy=False)
    for folder in FOLDERS:
        found = extract_from_dir(
            SOURCE / folder, METHODS, OPTIONS, keywords=KEYWORDS, strip_comment_tags=True
        )
        for file, _, message, _, context in found:
            catalogue.add(message, locations=[(f"{folder}/{file}", 0)], context=context)
    return catalogue


def read_catalogue(path: Path) -> Catalog:
    """Read a catalogue of translations."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


def compile_catalogue(catalogue: Catalog) -> bytes:
    """Return the compiled catalogue."""
    buffer = BytesIO()
    write_mo(buffer, catalogue)
    return buffer.getvalue()


def read_compiled(content: bytes) -> dict[tuple[str, str | None], object]:
    """Return a compiled catalogue's translations, without its header, which names a version."""
    return {(str(m.id), m.context): m.string for m in read_mo(BytesIO(content)) if m.id}


def update_catalogue(path: Path, messages: Catalog) -> None:
    """Add new messages to a catalogue and drop those that no code uses."""
    catalogue = read_catalogue(path)
    catalogue.update(messages, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    with path.open("wb") as file:
        write_po(
            file, catalogue, width=100, sort_output=True, include_lineno=False, omit_header=False
        )


def find_problems(path: Path, messages: Catalog) -> Iterator[str]:
    """Yield a line for each untranslated, unused or damaged message, and for a stale .mo file."""
    catalogue = read_catalogue(path)
    translated = {(m.id, m.context): m for m in catalogue if m.id}
    used = {(m.id, m.context) for m in messages if m.id}
    for key in sorted(used - translated.keys(), key=str):
        yield f"{path.name}: missing: {key[0]!r}"
    for key, message in translated.items():
        if key not in used:
            yield f"{path.name}: unused: {key[0]!r}"
        elif not message.string or (isinstance(message.string, tuple) and not all(message.string)):
            yield f"{path.name}: untranslated: {key[0]!r}"
    compiled = path.with_suffix(".mo").read_bytes()
    if read_compiled(compiled) != read_compiled(compile_catalogue(catalogue)):
        yield f"{path.with_suffix('.mo').name}: stale; run tools/translations.py compile"


def main(task: str) -> int:
    messages, found = extract_messages(), []
    for path in sorted(CATALOGUES.glob("*/LC_MESSAGES/arboleda.po")):
        if task == "update":
            update_catalogue(path, messages)
        if task == "compile":
            path.with_suffix(".mo").write_bytes(compile_catalogue(read_catalogue(path)))
        if task == "check":
            found += find_problems(path, messages)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "check"))
