"""What studies were asked and with what they ran: where they agree, and where not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["differences", "same_rows"]

# Of the hash of the data so much is shown.
_DIGITS = 12
_STUDY = {
    "table": "Table",
    "target": "Target",
    "task": "Task",
    "metric": "Metric",
    "seed": "Seed",
    "test_size": "Test size",
}
_VERSIONS = {
    "arboleda": "arboleda",
    "python": "Python",
    "numpy": "NumPy",
    "scikit_learn": "scikit-learn",
    "platform": "Platform",
    "cores": "Cores",
}


def differences(studies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is told of each study, as text, and whether the studies differ in it.

    Parameters
    ----------
    studies : sequence of mapping
        Facts of studies.

    Returns
    -------
    rows : list of dict
        ``what``, ``kind`` ("data", "setting" or "version"), ``values`` and ``same``.
    """
    told = [{(kind, what): value for kind, what, value in _told(facts)} for facts in studies]
    keys = dict.fromkeys(key for one in told for key in one)
    rows = []
    for kind, what in keys:
        values = [one.get((kind, what), "") for one in told]
        rows.append({"what": what, "kind": kind, "values": values, "same": len(set(values)) == 1})
    return rows


def same_rows(studies: Sequence[Mapping[str, Any]]) -> str | None:
    """Why the best models cannot be compared row by row, or None if they can."""
    first = studies[0]
    if any(facts["study"]["data_sha256"] != first["study"]["data_sha256"] for facts in studies):
        return "the tables are not the same"
    for key, what in (("target", "targets"), ("task", "tasks")):
        if any(facts["study"][key] != first["study"][key] for facts in studies):
            return f"the {what} are not the same"
    if any(
        facts["study"]["scheme"]["test"] == "file" and _of_the_test(facts) is None
        for facts in studies
    ):
        return "an older version did not note which table they were tested on; run them again"
    if any(_of_the_test(facts) != _of_the_test(first) for facts in studies):
        return "the tables of the test are not the same"
    if any(_division(facts) != _division(first) for facts in studies):
        return "the studies set their test rows aside in different ways"
    return None


def _of_the_test(facts: Mapping[str, Any]) -> str | None:
    """The sum of a table of the test's own; studies of older versions do not tell it."""
    found: str | None = facts["study"].get("test_sha256")
    return found


def _division(facts: Mapping[str, Any]) -> tuple[Any, ...]:
    """How the test rows were found, and by which column."""
    study = facts["study"]
    return study["scheme"]["test"], study["settings"]["groups"], study["settings"]["time"]


def _told(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    study, data, split = facts["study"], facts["data"], facts["split"]
    yield "data", "Data, SHA-256", study["data_sha256"][:_DIGITS]
    if _of_the_test(facts) is not None:
        yield "data", "Data of the test, SHA-256", study["test_sha256"][:_DIGITS]
    yield "data", "Rows", f"{data['n_rows']:,}"
    yield "data", "Columns", f"{data['n_columns']:,}"
    yield "data", "Training and test rows", f"{split['n_train']:,} + {split['n_test']:,}"
    for key, name in _STUDY.items():
        yield "setting", name, _text(study[key])
    settings = study["settings"]
    for key, value in settings.items():
        if key not in _STUDY:
            yield "setting", key.replace("_", " ").capitalize(), _text(value)
    for key, name in _VERSIONS.items():
        yield "version", name, _text(facts["environment"][key])


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(part)}" for key, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
