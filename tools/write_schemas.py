"""Write the JSON schemas of facts, which are generated from their typed models.

    python tools/write_schemas.py

A test fails while a committed schema differs from its models.
"""

from pathlib import Path

from arboleda.study.results.facts import StudyFacts, format_schema

SOURCE = Path(__file__).parents[1] / "src" / "arboleda"
SCHEMAS = {SOURCE / "study" / "results" / "facts.schema.json": StudyFacts}


def main() -> None:
    """Write every schema."""
    for path, facts in SCHEMAS.items():
        path.write_text(format_schema(facts), encoding="utf-8")


if __name__ == "__main__":
    main()
