"""Write the JSON schemas of facts, which are generated from their typed models.

    python tools/write_schemas.py

A test fails while a committed schema differs from its models.
"""

from pathlib import Path

from arboleda.facts.comparison import ComparisonOfStudies
from arboleda.facts.explanation import ExplanationFacts
from arboleda.facts.exploration import ExplorationFacts
from arboleda.facts.study import StudyFacts, format_schema

FACTS = Path(__file__).parents[1] / "src" / "arboleda" / "facts"
SCHEMAS = {
    FACTS / "study.schema.json": StudyFacts,
    FACTS / "exploration.schema.json": ExplorationFacts,
    FACTS / "explanation.schema.json": ExplanationFacts,
    FACTS / "comparison.schema.json": ComparisonOfStudies,
}


def main() -> None:
    """Write every schema."""
    for path, facts in SCHEMAS.items():
        path.write_text(format_schema(facts), encoding="utf-8")


if __name__ == "__main__":
    main()
