"""C export of gradient boosting and AdaBoost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda.adaboost import BoostedClassifier, BoostedRegressor, BoostedTreeMembers, BoostedTrees
from arboleda.boosting import BoostedModel, Loss, TargetStatistics, count_crosses
from arboleda.c_export._source import (
    CSource,
    ModelCode,
    TreeTables,
    define_integers,
    define_numbers,
)
from arboleda.onnx_export import refuse_initial_estimator, refuse_several_targets

Floats = npt.NDArray[np.float64]


def add_boosted_model(model: BoostedModel, file: CSource) -> ModelCode:
    """Add gradient boosting, whose state is the raw scores."""
    refuse_several_targets(model)
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
    row, replaced = _define_row(model, part, file)
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


def _define_row(model: BoostedModel, part: ModelCode, file: CSource) -> tuple[str, list[str]]:
    """Return the name of the row that the trees read, and the statements that fill it."""
    crossed = model._crossed_columns
    if not model.statistics_.columns and not len(crossed):
        return "x", []
    if len(crossed) and file.dtype == "float32":
        raise ValueError(
            f"the trees of this {type(model).__name__} split on differences and products of "
            "columns, which would be rounded to single precision and take other paths: set "
            "number_type='float64', or fit with cross_columns=False"
        )
    n_columns, width = file.schema.n_columns, model._n_tree_columns
    body = [f"number z[{width}];", "int j;", f"for (j = 0; j < {n_columns}; ++j) z[j] = x[j];"]
    body += _fill_statistics(model.statistics_, part, file)
    place = width - count_crosses(crossed)
    for first, second in combinations(crossed, 2):
        body.append(f"z[{place}] = x[{first}] - x[{second}];")
        body.append(f"z[{place + 1}] = x[{first}] * x[{second}];")
        place += 2
    return "z", body


def _fill_statistics(statistics: TargetStatistics, part: ModelCode, file: CSource) -> list[str]:
    """Return the statements that replace categories by target statistics."""
    n_columns, p = file.schema.n_columns, part.prefix
    n = statistics.n_statistics
    body = []
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
    return body


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


def add_boosted_classifier(model: BoostedClassifier, file: CSource) -> ModelCode:
    """Add a boosted classifier, whose state is the sums of the members' weighted votes."""
    members = model._members
    if not isinstance(members, BoostedTreeMembers):
        raise ValueError(_describe_missing_trees(model))  # noqa: TRY004 - a model, but not of trees
    file.check_columns(model)
    weighted = members.weighted
    n_classes, n_sums, n_trees = model.n_classes_, weighted.n_outputs, weighted.forest.n_trees
    part = file.start_model(n_sums, 1 if n_classes == 2 else n_classes, n_classes)
    width = n_sums // weighted.trees_a_member
    tables = TreeTables(part.prefix, width, file.dtype)
    for i in range(n_trees):
        tables.add(weighted.forest.tree(i), weighted.weighted_leaf_votes(i))
    part.definitions += tables.iter_definitions()
    p = part.prefix
    add = (
        f"out[tree % {weighted.trees_a_member}] += *vote;"
        if weighted.trees_a_member > 1
        else f"for (k = 0; k < {width}; ++k) out[k] += vote[k];"
    )
    part.define_state(
        "int tree, k;",
        f"for (k = 0; k < {n_sums}; ++k) out[k] = 0;",
        f"for (tree = 0; tree < {n_trees}; ++tree) {{",
        f"  const number *vote = {p}_value + {width} * (long){p}_leaf(tree, x);",
        f"  {add}",
        "}",
    )
    _define_outputs(model, part, file)
    return part


def _define_outputs(model: BoostedClassifier, part: ModelCode, file: CSource) -> None:
    """Define scores and probabilities of the sums, according to the algorithm."""
    k, name = part.n_outputs, model.algorithm
    if k == 1:
        part.define_scores("(void)state;", "out[0] = 0;")
        part.define_outputs("(void)state;", "out[0] = 1;")
        return
    total = file.format_literal(model._total_weight())
    if name == "SAMME":
        _define_samme_outputs(part, total)
    elif name in {"discrete", "M1", "M2", "MR"}:
        part.define_scores(*(["out[0] = state[1] - state[0];"] if k == 2 else []))
    elif name in {"real", "MH"}:
        part.define_scores(*(["out[0] = state[1];"] if k == 2 else []))
    elif name == "logit" and k > 2:
        part.define_scores(*_write_centred_sums(k, "out"))
    else:
        part.define_scores()
    if name == "discrete":
        part.needs.add("logistic")
        part.define_outputs("out[1] = logistic(2 * (state[1] - state[0]));", "out[0] = 1 - out[1];")
    elif name in {"M1", "M2", "MR"} or (name == "real" and k == 2):
        part.needs.add("softmax")
        part.define_outputs(f"softmax(state, {k}, out);")
    elif name == "real":
        part.needs.add("softmax")
        part.define_outputs(
            f"number z[{k}];",
            "int k;",
            f"for (k = 0; k < {k}; ++k) z[k] = state[k] / {k - 1};",
            f"softmax(z, {k}, out);",
        )
    elif name == "MH" or (name == "gentle" and k > 2):
        part.needs |= {"logistic", "one_against_rest"}
        part.define_outputs(f"one_against_rest(state, {k}, out);")
    elif name == "gentle":
        part.needs.add("logistic")
        part.define_outputs("out[1] = logistic(2 * state[0]);", "out[0] = 1 - out[1];")
    elif name == "logit" and k == 2:
        part.needs.add("logistic")
        part.define_outputs("out[0] = logistic(-2 * state[0]);", "out[1] = logistic(2 * state[0]);")
    elif name == "logit":
        part.needs.add("softmax")
        part.define_outputs(
            f"number z[{k}];", *_write_centred_sums(k, "z"), f"softmax(z, {k}, out);"
        )


def _define_samme_outputs(part: ModelCode, total: str) -> None:
    k = part.n_outputs
    part.needs.add("softmax")
    if k == 2:
        part.define_scores(f"out[0] = 2 * (state[1] - state[0]) / {total};")
        part.define_outputs(
            f"const number decision = 2 * (state[1] - state[0]) / {total};",
            "number z[2];",
            "z[0] = -decision / 2;",
            "z[1] = decision / 2;",
            "softmax(z, 2, out);",
        )
        return
    decided = f"(state[k] - ({total} - state[k]) / {k - 1}) / {total}"
    part.define_scores("int k;", f"for (k = 0; k < {k}; ++k) out[k] = {decided};")
    part.define_outputs(
        f"number z[{k}];",
        "int k;",
        f"for (k = 0; k < {k}; ++k) z[k] = {decided} / {k - 1};",
        f"softmax(z, {k}, out);",
    )


def _write_centred_sums(k: int, out: str) -> list[str]:
    """Write the statements that centre the sums."""
    return [
        "number sum = 0;",
        "int k;",
        f"for (k = 0; k < {k}; ++k) sum += state[k];",
        f"for (k = 0; k < {k}; ++k) {out}[k] = state[k] - sum / {k};",
    ]


def add_boosted_regressor(model: BoostedRegressor, file: CSource) -> ModelCode:
    """Add a boosted regressor, whose state is the weighted median of the trees' values."""
    members = model._members
    if not isinstance(members, BoostedTrees):
        raise ValueError(_describe_missing_trees(model))  # noqa: TRY004 - a model, but not of trees
    file.check_columns(model)
    part = file.start_model(1, 1, 1)
    p, n = part.prefix, len(members)
    tables = TreeTables(p, 1, file.dtype)
    for i in range(n):
        tree = members.forest.tree(i)
        tables.add(tree, tree.value_rows[tree.children_left < 0])
    part.definitions += tables.iter_definitions()
    part.definitions.append(define_numbers(f"{p}_weight", members.weights.tolist(), file.dtype))
    low, high = (file.format_literal(end) for end in model._range.tolist())
    part.define_state(
        f"number sorted[{n}], weight[{n}], total = 0, sum = 0;",
        "int tree, i;",
        f"for (tree = 0; tree < {n}; ++tree) {{",
        f"  const number value = {p}_value[{p}_leaf(tree, x)];",
        "  for (i = tree; i > 0 && sorted[i - 1] > value; --i) {",
        "    sorted[i] = sorted[i - 1];",
        "    weight[i] = weight[i - 1];",
        "  }",
        "  sorted[i] = value;",
        f"  weight[i] = {p}_weight[tree];",
        "}",
        f"for (i = 0; i < {n}; ++i) total += weight[i];",
        f"for (i = 0; i < {n - 1}; ++i) {{",
        "  sum += weight[i];",
        f"  if (sum >= {file.format_literal(0.5)} * total) break;",
        "}",
        f"out[0] = sorted[i] < {low} ? {low} : sorted[i] > {high} ? {high} : sorted[i];",
    )
    part.define_scores()
    part.define_outputs()
    return part


def _describe_missing_trees(model: BoostedClassifier | BoostedRegressor) -> str:
    return (
        f"the members of this {type(model).__name__} are not trees of the engine: only boosted "
        "trees can be exported to C"
    )
