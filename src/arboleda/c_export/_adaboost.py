"""C export of AdaBoost and its variants."""

from __future__ import annotations

from arboleda.adaboost._boosted_classifier import BoostedClassifier
from arboleda.adaboost._boosted_regressor import BoostedRegressor
from arboleda.adaboost._boosted_trees import BoostedTrees
from arboleda.adaboost._tree_members import BoostedTreeMembers
from arboleda.c_export._file import CSource
from arboleda.c_export._parts import ModelCode
from arboleda.c_export._text import define_numbers
from arboleda.c_export._trees import TreeTables


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
