"""A fitted model as one file of C99."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.schema import Schema
from arboleda._files import write_atomically
from arboleda.c_export._file import File
from arboleda.c_export._models import add_model
from arboleda.c_export._parts import SHARED, Part
from arboleda.c_export._text import NumberType, remark, text
from arboleda.onnx_export._models import schema_of

_TAKEN = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long main number register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while softmax logistic one_against_rest exp expf
"""
_LISTED_LEVELS = 20


def to_c(model: Any, *, name: str = "predict", number_type: NumberType = "float64") -> str:
    """Write a tree ensemble as C: a function of a row, without libraries or memory of its own.

    Parameters
    ----------
    model : estimator
        A fitted decision tree, forest, ensemble of bagged trees, gradient boosting, AdaBoost of
        trees, or a mean of such by voting or learned weights.
    name : str, default="predict"
        Of the function, and of what else is public in the file begins with it.
    number_type : {"float64", "float32"}, default="float64"
        Type of all numbers: ``double``, or ``float`` for devices that have no other. With "float32"
        a row goes where the model sends the same values, and answers are rounded, sum by sum.

    Returns
    -------
    source : str
        C99 of constant tables and ``int predict(const double *x, double *out)``. ``x`` has a number
        for each column: NaN where it is missing; of a categorical one the place of its category in
        the list that stands in the file, or what ``predict_category(column, text)`` gives. ``out``
        gets the probabilities of the classes, or the predicted values; what is returned is the
        place of the predicted class among them, whose name ``predict_class`` has; 0 of values.
        ``void predict_scores(const double *x, double *out)`` gives what `decision_function` does;
        of models without one, what ``predict`` does.

    Raises
    ------
    TypeError
        If it is no model that can be exported.
    ValueError
        If it is one with options that are not: an initial estimator, votes of members, several
        targets of classes; or ``name`` is no name in C.

    Notes
    -----
    Scores have the bits of the model's wherever a compiler keeps IEEE 754 (no ``-ffast-math``, no
    fused multiply-add: ``-std=c99`` says so to GCC). Probabilities and means that need an
    exponential are as good as the ``exp`` of the C library: within a few units in the last place.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> print(arboleda.to_c(tree).splitlines()[0])
    /* DecisionTreeClassifier of arboleda, as C99.
    """
    if number_type not in {"float64", "float32"}:
        raise ValueError(f"number_type is {number_type!r}: give 'float64' or 'float32'")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,40}", name) or name in _TAKEN.split():
        raise ValueError(f"name is {name!r}, which C takes for no name of a function: give another")
    if re.fullmatch(r"m[0-9]+(_.*)?", name):
        raise ValueError(f"name is {name!r}, as the file names its tables: give another")
    if not hasattr(model, "fit"):
        raise TypeError(f"a {type(model).__name__} is no estimator: give a fitted model")
    check_is_fitted(model)
    schema = schema_of(model)
    if schema is None:
        raise TypeError(f"{type(model).__name__} has no member that can be exported to C")
    file = File(schema, number_type)
    whole = add_model(model, file)
    needs = set().union(*(part.needs for part in file.parts))
    sections = [
        _heading(model, schema, name, whole, number_type),
        _prologue(number_type, needs),
        _public(model, schema, name, whole),
        *(SHARED[need] for need in SHARED if need in needs),
        *(definition for part in file.parts for definition in part.definitions),
        whole.score_function,
        _functions(model, schema, name, whole),
    ]
    return "\n\n".join(sections) + "\n"


def export_c(
    model: Any,
    path: str | os.PathLike[str],
    *,
    name: str = "predict",
    number_type: NumberType = "float64",
) -> None:
    """Write a tree ensemble as a file of C.

    Parameters
    ----------
    model, name, number_type
        As in `to_c`.
    path : str or path-like
        Where to; by custom the name ends in ``.c``. A file there is replaced whole, or, when
        anything fails, left as it was.

    Raises
    ------
    TypeError, ValueError
        As `to_c`.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> arboleda.export_c(tree, "answer.c")  # doctest: +SKIP
    """
    write_atomically(Path(path), to_c(model, name=name, number_type=number_type))


def _c_type(dtype: NumberType) -> str:
    return "double" if dtype == "float64" else "float"


def _heading(model: Any, schema: Schema, name: str, whole: Part, dtype: NumberType) -> str:
    kind = _c_type(dtype)
    lines = [f"/* {type(model).__name__} of arboleda, as C99.", ""]
    lines += [
        f"   int {name}(const {kind} *x, {kind} *out)",
        f"   x, of {schema.n_columns} numbers, NaN where one is missing:",
    ]
    for j, levels in enumerate(schema.levels):
        shown = "" if schema.names is None else f" {remark(schema.names[j])}"
        lines.append(f"     {j}{shown}{_told_levels(levels)}")
    if is_classifier(model):
        lines.append(f"   out: the probabilities of the {whole.n_outputs} classes:")
        lines += [f"     {k} {remark(label)}" for k, label in enumerate(model.classes_)]
        lines.append(
            f"   Returned is the number of the predicted class, as {name}_class lists them."
        )
    else:
        lines.append(f"   out: {whole.n_outputs} predicted value(s). Returned is 0.")
    return "\n".join([*lines, "*/"])


def _told_levels(levels: Any) -> str:
    if levels is None:
        return ""
    told = [f"{code} = {remark(label)}" for code, label in enumerate(levels[:_LISTED_LEVELS])]
    more = len(levels) - len(told)
    told += [f"{more} more"] if more else []
    return f": a category, {', '.join(told)}; else as missing" if told else ": a category"


def _prologue(dtype: NumberType, needs: set[str]) -> str:
    single = dtype == "float32"
    lines = ["#include <math.h>", "#include <stdint.h>", "", f"typedef {_c_type(dtype)} number;"]
    lines.append(f"#define EXP {'expf' if single else 'exp'}")
    if "one_against_rest" in needs:
        lines.append(f"#define LEAST {'1.17549435e-38f' if single else '2.2250738585072014e-308'}")
    return "\n".join(lines)


def _public(model: Any, schema: Schema, name: str, whole: Part) -> str:
    """What another file may use: sizes, names and prototypes."""
    upper = name.upper()
    sizes = {"FEATURES": schema.n_columns, "OUTPUTS": whole.n_outputs, "SCORES": whole.n_scores}
    lines = ["enum {", *(f"  {upper}_N_{what} = {n}," for what, n in sizes.items())]
    lines[-1] = lines[-1].rstrip(",")
    lines += ["};", ""]
    if is_classifier(model):
        labels = ", ".join(text(str(label)) for label in model.classes_)
        lines += [f"const char *const {name}_class[{whole.n_outputs}] = {{{labels}}};", ""]
    lines += [f"int {name}(const number *x, number *out);"]
    lines += [f"void {name}_scores(const number *x, number *out);"]
    if _text_columns(schema):
        lines.append(f"number {name}_category(int column, const char *category);")
    return "\n".join(lines)


def _functions(model: Any, schema: Schema, name: str, whole: Part) -> str:
    """The functions that another file may call."""
    p, n = whole.prefix, whole.n_scores
    decided = "score[0] > 0" if n == 1 else "best"
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
        body.append(f"  return {decided};")
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
    return "\n".join([*body, *_category_function(schema, name)])


def _text_columns(schema: Schema) -> dict[int, tuple[str, ...]]:
    """Levels of the columns whose categories are texts."""
    return {
        j: tuple(str(level) for level in levels)
        for j, levels in enumerate(schema.levels)
        if levels and all(isinstance(level, str) for level in levels)
    }


def _category_function(schema: Schema, name: str) -> list[str]:
    """A function that finds the number of a category, NaN of one that the model does not know."""
    found = _text_columns(schema)
    if not found:
        return []
    lines = []
    for j, levels in found.items():
        listed = ",\n  ".join(text(level) for level in levels)
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
