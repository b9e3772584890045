"""Export of a fitted model as one C99 source file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.columns import Schema
from arboleda._utils.files import write_atomically
from arboleda.c_export._models import add_model
from arboleda.c_export._source import (
    SHARED,
    CSource,
    ModelCode,
    NumberType,
    format_comment,
    format_string,
)
from arboleda.onnx_export import find_schema

_TAKEN = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long main number register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while softmax logistic one_against_rest exp expf
"""
_MAX_LISTED_LEVELS = 20


def to_c(model: Any, *, name: str = "predict", number_type: NumberType = "float64") -> str:
    """Convert a tree ensemble to a C function of a row, without libraries or allocated memory.

    Parameters
    ----------
    model : estimator
        A fitted decision tree, forest, ensemble of bagged trees, gradient boosting, AdaBoost of
        trees, or a mean of these by voting or learned weights.
    name : str, default="predict"
        Name of the function, and prefix of all other public names in the file.
    number_type : {"float64", "float32"}, default="float64"
        Type of all numbers: ``double``, or ``float`` for devices without it. With "float32" a row
        takes the same path as in the model, and every sum is rounded.

    Returns
    -------
    source : str
        C99 source with constant tables and ``int predict(const double *x, double *out)``. ``x`` has
        one number per column: NaN if missing; for a categorical column the index of the category in
        the list in the file, or the result of ``predict_category(column, text)``. ``out`` receives
        the probabilities of the classes, or the predicted values. The function returns the index of
        the predicted class, whose name is in ``predict_class``; 0 for a regressor. ``void
        predict_scores(const double *x, double *out)`` computes `decision_function`, or the same as
        ``predict`` for models without one.

    Raises
    ------
    TypeError
        If the model cannot be exported.
    ValueError
        If the model uses unsupported options: an initial estimator, votes of members, several
        classification targets; or if ``name`` is not a valid name in C.

    Notes
    -----
    Scores are bitwise equal to the model's if the compiler follows IEEE 754 (no ``-ffast-math``, no
    fused multiply-add, as with ``-std=c99`` in GCC). Probabilities and means that need an
    exponential depend on the ``exp`` of the C library: within a few units in the last place.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> print(arboleda.to_c(tree).splitlines()[0])
    /* DecisionTreeClassifier of arboleda, as C99.
    """
    if number_type not in {"float64", "float32"}:
        raise ValueError(f"number_type must be 'float64' or 'float32', got {number_type!r}")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,40}", name) or name in _TAKEN.split():
        raise ValueError(f"name must be a valid name of a C function, got {name!r}")
    if re.fullmatch(r"m[0-9]+(_.*)?", name):
        raise ValueError(
            f"name must not look like m1 or m1_value, the names of tables in the file, got {name!r}"
        )
    if not hasattr(model, "fit"):
        raise TypeError(f"{type(model).__name__} is not an estimator: give a fitted model")
    check_is_fitted(model)
    schema = find_schema(model)
    if schema is None:
        raise TypeError(
            f"{type(model).__name__} has no member that can be exported to C: give a tree ensemble"
        )
    file = CSource(schema, number_type)
    whole = add_model(model, file)
    needs = set().union(*(part.needs for part in file.parts))
    sections = [
        _write_heading(model, schema, name, whole, number_type),
        _write_prologue(number_type, needs),
        _write_declarations(model, schema, name, whole),
        *(SHARED[need] for need in SHARED if need in needs),
        *(definition for part in file.parts for definition in part.definitions),
        whole.score_function,
        _write_functions(model, schema, name, whole),
    ]
    return "\n\n".join(sections) + "\n"


def export_c(
    model: Any,
    path: str | os.PathLike[str],
    *,
    name: str = "predict",
    number_type: NumberType = "float64",
) -> None:
    """Write a tree ensemble to a C source file.

    Parameters
    ----------
    model, name, number_type
        As in `to_c`.
    path : str or path-like
        Output file, conventionally named ``.c``. An existing file is replaced atomically, and left
        unchanged if anything fails.

    Raises
    ------
    TypeError, ValueError
        As in `to_c`.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> arboleda.export_c(tree, "tree.c")  # doctest: +SKIP
    """
    write_atomically(Path(path), to_c(model, name=name, number_type=number_type))


def _get_c_type(dtype: NumberType) -> str:
    return "double" if dtype == "float64" else "float"


def _write_heading(
    model: Any, schema: Schema, name: str, whole: ModelCode, dtype: NumberType
) -> str:
    kind = _get_c_type(dtype)
    lines = [f"/* {type(model).__name__} of arboleda, as C99.", ""]
    lines += [
        f"   int {name}(const {kind} *x, {kind} *out)",
        f"   x: {schema.n_columns} numbers, NaN if missing:",
    ]
    for j, levels in enumerate(schema.levels):
        shown = "" if schema.names is None else f" {format_comment(schema.names[j])}"
        lines.append(f"     {j}{shown}{_describe_levels(levels)}")
    if is_classifier(model):
        lines.append(f"   out: the probabilities of the {whole.n_outputs} classes:")
        lines += [f"     {k} {format_comment(label)}" for k, label in enumerate(model.classes_)]
        lines.append(f"   Returns the index of the predicted class in {name}_class.")
    else:
        lines.append(f"   out: {whole.n_outputs} predicted value(s). Returns 0.")
    return "\n".join([*lines, "*/"])


def _describe_levels(levels: Any) -> str:
    if levels is None:
        return ""
    shown_levels = [
        f"{code} = {format_comment(label)}"
        for code, label in enumerate(levels[:_MAX_LISTED_LEVELS])
    ]
    more = len(levels) - len(shown_levels)
    shown_levels += [f"{more} more"] if more else []
    return (
        f": a category, {', '.join(shown_levels)}; others as missing"
        if shown_levels
        else ": a category"
    )


def _write_prologue(dtype: NumberType, needs: set[str]) -> str:
    single = dtype == "float32"
    lines = [
        "#include <math.h>",
        "#include <stdint.h>",
        "",
        f"typedef {_get_c_type(dtype)} number;",
    ]
    lines.append(f"#define EXP {'expf' if single else 'exp'}")
    if "one_against_rest" in needs:
        lines.append(f"#define LEAST {'1.17549435e-38f' if single else '2.2250738585072014e-308'}")
    return "\n".join(lines)


def _write_declarations(model: Any, schema: Schema, name: str, whole: ModelCode) -> str:
    """Write the public declarations: sizes, class names and prototypes."""
    upper = name.upper()
    sizes = {"FEATURES": schema.n_columns, "OUTPUTS": whole.n_outputs, "SCORES": whole.n_scores}
    lines = ["enum {", *(f"  {upper}_N_{what} = {n}," for what, n in sizes.items())]
    lines[-1] = lines[-1].rstrip(",")
    lines += ["};", ""]
    if is_classifier(model):
        labels = ", ".join(format_string(str(label)) for label in model.classes_)
        lines += [f"const char *const {name}_class[{whole.n_outputs}] = {{{labels}}};", ""]
    lines += [f"int {name}(const number *x, number *out);"]
    lines += [f"void {name}_scores(const number *x, number *out);"]
    if _find_text_columns(schema):
        lines.append(f"number {name}_category(int column, const char *category);")
    return "\n".join(lines)


def _write_functions(model: Any, schema: Schema, name: str, whole: ModelCode) -> str:
    """Write the public functions."""
    p, n = whole.prefix, whole.n_scores
    predicted_class = "score[0] > 0" if n == 1 else "best"
    search = ["  int k, best = 0;"] if n > 1 else []
    find = ["  for (k = 1; k < {n}; ++k) {{", "    if (score[k] > score[best]) best = k;", "  }}"]
    body = [
        f"int {name}(const number *x, number *out) {{",
        f"  number state[{whole.n_state}];",
        *([f"  number score[{n}];", *search] if is_classifier(model) else []),
        f"  {p}_state(x, state);",
        f"  {p}_outputs(state, out);",
    ]
    if is_classifier(model):
        body.append(f"  {p}_scores(state, score);")
        body += [line.format(n=n) for line in find] if n > 1 else []
        body.append(f"  return {predicted_class};")
    else:
        body.append("  return 0;")
    body += [
        "}",
        "",
        f"void {name}_scores(const number *x, number *out) {{",
        f"  number state[{whole.n_state}];",
        f"  {p}_state(x, state);",
        f"  {p}_scores(state, out);",
        "}",
    ]
    return "\n".join([*body, *_write_category_function(schema, name)])


def _find_text_columns(schema: Schema) -> dict[int, tuple[str, ...]]:
    """Return the levels of the columns whose categories are texts."""
    return {
        j: tuple(str(level) for level in levels)
        for j, levels in enumerate(schema.levels)
        if levels and all(isinstance(level, str) for level in levels)
    }


def _write_category_function(schema: Schema, name: str) -> list[str]:
    """Write a function that returns the code of a category, or NaN for an unknown one."""
    found = _find_text_columns(schema)
    if not found:
        return []
    lines = []
    for j, levels in found.items():
        listed = ",\n  ".join(format_string(level) for level in levels)
        lines += [
            "",
            f"static const char *const levels_{j}[{len(levels)}] = {{",
            f"  {listed}",
            "};",
        ]
    lines += [
        "",
        f"number {name}_category(int column, const char *category) {{",
        "  const char *const *levels = 0;",
        "  int n = 0, code, i;",
    ]
    for j, levels in found.items():
        lines += [
            f"  if (column == {j}) {{",
            f"    levels = levels_{j};",
            f"    n = {len(levels)};",
            "  }",
        ]
    return [
        *lines,
        "  for (code = 0; code < n; ++code) {",
        "    for (i = 0; levels[code][i] != 0 && levels[code][i] == category[i]; ++i) {",
        "    }",
        "    if (levels[code][i] == category[i]) return (number)code;",
        "  }",
        "  return NAN;",
        "}",
    ]
