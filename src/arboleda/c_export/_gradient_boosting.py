"""C export of gradient boosting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda.boosting._boosted_model import BoostedModel
from arboleda.boosting._losses import Loss
from arboleda.boosting._target_statistics import TargetStatistics
from arboleda.c_export._file import CSource
from arboleda.c_export._parts import ModelCode
from arboleda.c_export._text import define_integers, define_numbers
from arboleda.c_export._trees import TreeTables
from arboleda.onnx_export._models import refuse_initial_estimator

Floats = npt.NDArray[np.float64]


def add_boosted_model(model: BoostedModel, file: CSource) -> ModelCode:
    """Add gradient boosting, whose state is the raw scores."""
    file.check_columns(model)
    refuse_initial_estimator(model)
    ensemble, loss = model.ensemble_, model.loss_
    k = ensemble.n_outputs
    n_outputs = len(model.classes_) if hasattr(model, "classes_") else k
    part = file.start_model(k, k, n_outputs)
    tables = TreeTables(part.prefix, 1, file.dtype)
    for tree in ensemble.trees:
        tables.add(tree, tree.value_rows[tree.children_left < 0])
    part.definitions += tables.iter_definitions()
    part.definitions += _define_linear_leaves(ensemble, part.prefix, file)
    row, replaced = _define_statistics(model.statistics_, part, file)
    start = np.zeros(k) if isinstance(getattr(model, "init_", None), str) else ensemble.start
    leaf = f"{part.prefix}_leaf(tree, {row})"
    value = (
        f"{part.prefix}_linear({leaf}, {row})"
        if ensemble.has_linear_leaves
        else f"{part.prefix}_value[{leaf}]"
    )
    steps = [f"out[{i}] = {file.format_literal(first)};" for i, first in enumerate(start.tolist())]
    if tables.n_trees:
        place = "0" if k == 1 else f"tree % {k}"
        head = f"for (tree = 0; tree < {tables.n_trees}; ++tree)"
        steps = ["int tree;", *replaced, *steps, f"{head} out[{place}] += {value};"]
    else:
        steps = ["(void)x;", *steps]
    part.define_state(*steps)
    part.define_scores()
    _define_link(loss, part)
    return part


def _define_link(loss: Loss, part: ModelCode) -> None:
    """Define the predictions from raw scores, like `Loss.predictions`."""
    k = part.n_state
    if loss.link == "certain":
        part.define_outputs("(void)state;", "out[0] = 1;")
    elif loss.link == "softmax":
        part.needs.add("softmax")
        part.define_outputs(f"softmax(state, {k}, out);")
    elif loss.link in {"logit", "half_logit"}:
        part.needs.add("logistic")
        z = "state[0]" if loss.link == "logit" else "2 * state[0]"
        part.define_outputs(f"out[1] = logistic({z});", "out[0] = 1 - out[1];")
    elif loss.link == "log":
        part.define_outputs("int k;", f"for (k = 0; k < {k}; ++k) out[k] = EXP(state[k]);")
    elif len(loss.levels) > 1:
        ranks = np.argsort(np.argsort(loss.levels, kind="stable"))
        part.define_outputs(
            f"static const int rank[{k}] = {{{', '.join(map(str, ranks.tolist()))}}};",
            f"number sorted[{k}];",
            "int i, j;",
            f"for (i = 0; i < {k}; ++i) {{",
            "  for (j = i; j > 0 && sorted[j - 1] > state[i]; --j) sorted[j] = sorted[j - 1];",
            "  sorted[j] = state[i];",
            "}",
            f"for (i = 0; i < {k}; ++i) out[i] = sorted[rank[i]];",
        )
    else:
        part.define_outputs()


def _define_statistics(
    statistics: TargetStatistics, part: ModelCode, file: CSource
) -> tuple[str, list[str]]:
    """Return the name of the row with target statistics for categories, and its statements."""
    if not statistics.columns:
        return "x", []
    n_columns, p = file.schema.n_columns, part.prefix
    n = statistics.n_statistics
    width = n_columns + len(statistics.columns) * (n - 1)
    body = [f"number z[{width}];", "int j;", f"for (j = 0; j < {n_columns}; ++j) z[j] = x[j];"]
    for i, (column, table) in enumerate(zip(statistics.columns, statistics.values, strict=True)):
        name = f"{p}_statistic_{column}"
        part.definitions.append(define_numbers(name, table.ravel().tolist(), file.dtype))
        n_levels = len(table) - 1
        # Anything that is not a category code is missing or unknown.
        body += [
            f"j = x[{column}] >= 0 && x[{column}] < {n_levels} ? (int)x[{column}] : {n_levels};",
            f"z[{column}] = {name}[{n} * j];",
        ]
        for k in range(1, n):
            place = n_columns + i * (n - 1) + k - 1
            body.append(f"z[{place}] = {name}[{n} * j + {k}];")
    return "z", body


def _define_linear_leaves(ensemble: Ensemble, prefix: str, file: CSource) -> Iterator[str]:
    """Yield the tables and the function of linear leaves."""
    if not ensemble.has_linear_leaves:
        return
    linear = ensemble.linear
    is_leaf = np.concatenate([tree.children_left < 0 for tree in ensemble.trees])
    start = linear["linear.start"]
    first = np.append(start[:-1][is_leaf], start[-1])  # inner nodes have no terms
    yield define_integers(f"{prefix}_term", first)
    yield define_integers(f"{prefix}_term_feature", linear["linear.feature"])
    yield define_numbers(
        f"{prefix}_intercept", linear["linear.intercept"][is_leaf].tolist(), file.dtype
    )
    for name in ("coefficient", "low", "high"):
        yield define_numbers(f"{prefix}_{name}", linear[f"linear.{name}"].tolist(), file.dtype)
    yield _LINEAR.replace("PREFIX", prefix)


_LINEAR = """\
/* The prediction of a leaf; its constant value if one of its columns is missing. */
static number PREFIX_linear(int leaf, const number *x) {
  number sum = PREFIX_intercept[leaf];
  int i;
  if (PREFIX_term[leaf] == PREFIX_term[leaf + 1]) return PREFIX_value[leaf];
  for (i = PREFIX_term[leaf]; i < PREFIX_term[leaf + 1]; ++i) {
    number value = x[PREFIX_term_feature[i]];
    if (value != value) return PREFIX_value[leaf];
    if (value < PREFIX_low[i]) value = PREFIX_low[i];
    if (value > PREFIX_high[i]) value = PREFIX_high[i];
    sum += PREFIX_coefficient[i] * (value - PREFIX_low[i]);
  }
  return sum;
}"""
