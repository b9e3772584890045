"""The section on structure: components, clusters and maps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arboleda._numbers import integer, percent, plain
from arboleda.reports.figures.canvas import (
    ACCENT,
    INK,
    NEUTRAL,
    SHADES,
    get_palette_colour,
    get_shade,
)
from arboleda.reports.figures.map_plots import draw_curve_by_k, draw_map_plot, draw_variance_plot
from arboleda.reports.tables import SWATCHES
from arboleda.reports.wording import spell_count

__all__ = ["make_structure_view"]

# Rousseeuw's reading of silhouettes (Kaufman and Rousseeuw 1990, "Finding groups in data", p. 88).
_SILHOUETTES = (
    (0.70, "a strong structure"),
    (0.50, "a reasonable structure"),
    (0.25, "a weak structure"),
    (-1.0, "no substantial structure"),
)

Groups = list[tuple[str, str, str, np.ndarray]]  # placeholder, CSS colour, label, mask


def make_structure_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the figures and sentences of the section."""
    components = facts["components"]
    if components is None:
        return {"why_not": facts["no_structure"], "components": None}
    return {
        "why_not": None,
        "components": _make_components(facts, components),
        "clusters": _make_clusters(facts["clusters"]),
        "maps": _draw_maps(facts),
        "legend": _make_legend(facts),
    }


def _make_components(facts: Mapping[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    explained = components["explained"]
    n_kept = components["n_kept"]
    sentence = (
        f"The first two components explain {percent(sum(explained[:2]))} of the variance of "
        f"{integer(components['n_prepared'])} prepared columns"
    )
    if n_kept > 2:
        sentence += f"; the first {spell_count(n_kept)}, {percent(sum(explained[:n_kept]))}"
    return {
        "figure": draw_variance_plot(explained, n_kept),
        "sentence": f"{sentence}.",
        "rows": _describe_sample(components["n_rows"], facts),
        "loadings": [
            (f"Component {number}", _format_loadings(loadings))
            for number, loadings in enumerate(components["loadings"], 1)
        ],
    }


def _format_loadings(loadings: Sequence[Mapping[str, Any]]) -> str:
    shares = [f"{item['name']} {percent(item['share'])}" for item in loadings]
    return ", ".join(shares)


def _make_clusters(clusters: Mapping[str, Any]) -> dict[str, Any] | None:
    ks = clusters["k"]
    if len(ks) < 2:
        return None
    bic = clusters["mixtures"]["bic"]
    result = {kind: _find_lowest(values) for kind, values in bic.items()}
    silhouette = clusters["silhouette"]
    known = [k for k in range(len(ks)) if silhouette[k] is not None]
    figures = [
        ("Inertia of k-means", draw_curve_by_k(ks, [clusters["inertia"]], "Inertia", "inertia"))
    ]
    sentences, legend = [], []
    if known:
        best = max(known, key=lambda k: silhouette[k])
        figures.append(
            ("Silhouette of k-means",
             draw_curve_by_k(ks, [silhouette], "Mean silhouette", "silhouette", (0, best)))
        )  # fmt: skip
        sentences.append(_describe_silhouette(ks[best], silhouette[best]))
    if all(place is not None for place in result.values()):
        kind = min(bic, key=lambda name: bic[name][result[name]])
        order = [kind, *(name for name in bic if name != kind)]
        figures.append(
            ("BIC of Gaussian mixtures",
             draw_curve_by_k(
                 ks, [bic[name] for name in order], "BIC", "bic", (0, result[kind] or 0)))
        )  # fmt: skip
        sentences.append(_describe_bic(ks, kind, result[kind] or 0))
        names = {"full": "full covariances", "diag": "diagonal covariances"}
        colours = ("var(--accent)", "var(--c1)")
        legend = [(colour, names[each]) for colour, each in zip(colours, order, strict=True)]
    return {
        "figures": [{"title": title, "svg": svg} for title, svg in figures],
        "sentences": sentences,
        "legend": legend,
        "n_components": clusters["n_components"],
        "n_mixture_components": clusters["mixtures"]["n_components"],
        "n_rows": integer(clusters["n_rows"]),
        "n_silhouette_rows": integer(clusters["n_silhouette_rows"]),
    }


def _find_lowest(values: Sequence[float | None]) -> int | None:
    known = [k for k, value in enumerate(values) if value is not None]
    return min(known, key=lambda k: values[k] or 0.0) if known else None


def _describe_silhouette(k: int, value: float) -> str:
    words = next(text for limit, text in _SILHOUETTES if value > limit)
    return f"The silhouette is highest with {spell_count(k)} groups ({plain(value, 2)}): {words}."


def _describe_bic(ks: Sequence[int], kind: str, place: int) -> str:
    covariances = "full" if kind == "full" else "diagonal"
    text = f"BIC is lowest with {spell_count(ks[place])} Gaussian"
    text += f"{'s' if ks[place] > 1 else ''} with {covariances} covariance"
    if place == len(ks) - 1:
        text += ", the largest number tried: no small number of components fits the rows"
    elif ks[place] == 1:
        text += ": no evidence of groups"
    return f"{text}."


def _draw_maps(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    tsne, isomap, components = facts["tsne"], facts["isomap"], facts["components"]
    share = percent(sum(components["explained"][:2]))
    drawn = [("pca", "Principal components", f"{share} of the variance", components["map"])]
    if tsne is not None:
        note = f"perplexity {plain(tsne['perplexity'], 3)}"
        drawn.append(("tsne", "t-SNE", note, tsne["map"]))
    if isomap is not None:
        note = f"{isomap['n_neighbors']} neighbours"
        drawn.append(("isomap", "Isomap", note, isomap["map"]))
    if facts["mds"] is not None:
        note = f"stress {plain(facts['mds']['stress'], 2)}"
        drawn.append(("mds", "Multidimensional scaling", note, facts["mds"]["map"]))
    return [
        {
            "title": title,
            "note": f"{integer(len(place['x']))} rows, {note}",
            "svg": draw_map_plot(
                place,
                [(stand_in, mask) for stand_in, _, _, mask in _make_groups(facts, place)],
                name,
                f"Map of rows by {title}",
            ),
        }
        for name, title, note, place in drawn
    ]


def _make_legend(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the colours of all maps, taken from the first, which is the largest."""
    return [
        (colour, label)
        for _, colour, label, mask in _make_groups(facts, facts["components"]["map"])
        if label and mask.any()
    ]


def _make_groups(facts: Mapping[str, Any], place: Mapping[str, Any]) -> Groups:
    """Group points by colour: by class, by quintile of a quantity, or all in one group."""
    target = facts["target"]
    if target is None:
        return [(ACCENT, "var(--accent)", "", np.ones(len(place["x"]), dtype=bool))]
    values = np.array([np.nan if v is None else v for v in place["targets"]], dtype=float)
    groups = (
        _group_by_class(target, values) if target["classes"] else _group_by_quintile(facts, values)
    )
    # Grey: the negative class, the rest of many classes, or the middle of a quantity.
    return [*groups, (INK, "var(--ink)", "target missing", np.isnan(values))]


def _group_by_class(target: Mapping[str, Any], values: np.ndarray) -> Groups:
    labels = [row["label"] for row in target["classes"]]
    if len(labels) == 2:
        other = labels.index(target["positive_class"])
        return [
            (NEUTRAL, "var(--neutral)", labels[1 - other], values == 1 - other),
            (ACCENT, "var(--accent)", labels[other], values == other),
        ]
    counts = Counter({k: row["n_rows"] for k, row in enumerate(target["classes"])})
    most = len(labels) if len(labels) <= SWATCHES else SWATCHES - 1
    chosen = sorted(k for k, _ in counts.most_common(most))
    groups: Groups = [
        (get_palette_colour(index), f"var(--c{index})", labels[k], values == k)
        for index, k in enumerate(chosen)
    ]
    rest = ~np.isin(values, chosen) & ~np.isnan(values)
    if len(labels) > most:
        text = f"{spell_count(len(labels) - most)} smaller classes"
        groups.append((NEUTRAL, "var(--neutral)", text, rest))
    return groups


def _group_by_quintile(facts: Mapping[str, Any], values: np.ndarray) -> Groups:
    """Group points by quintiles of the first map, the same in all maps."""
    first = [v for v in facts["components"]["map"]["targets"] if v is not None]
    ends = np.unique(np.quantile(first, np.arange(1, SHADES) / SHADES))
    codes = np.where(np.isnan(values), -1, np.searchsorted(ends, values, side="left"))
    texts = [f"up to {plain(float(end))}" for end in ends] + [f"above {plain(float(ends[-1]))}"]
    step = (SHADES - 1) / max(1, len(ends))
    groups = []
    for index, text in enumerate(texts):
        tone = round(index * step)
        groups.append((get_shade(tone), f"var(--s{tone})", text, codes == index))
    return groups


def _describe_sample(n_rows: int, facts: Mapping[str, Any]) -> str:
    total = facts["table"]["n_rows"]
    if n_rows == total:
        return f"all {integer(total)} rows"
    return f"a sample of {integer(n_rows)} of {integer(total)} rows"
