"""The section on structure: components, clusters and maps."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from arboleda._utils.numbers import integer, percent, plain
from arboleda.facts.exploration import (
    ClassSize,
    ClustersFacts,
    ComponentsFacts,
    ExplorationFacts,
    Loading,
    MapFacts,
)
from arboleda.reports.fact_messages import translate
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
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import spell_count

__all__ = ["make_structure_view"]

# Rousseeuw's reading of silhouettes (Kaufman and Rousseeuw 1990, "Finding groups in data", p. 88).
_SILHOUETTES = (
    (0.70, N_("a strong structure")),
    (0.50, N_("a reasonable structure")),
    (0.25, N_("a weak structure")),
    (-1.0, N_("no substantial structure")),
)

Groups = list[tuple[str, str, str, np.ndarray]]  # placeholder, CSS colour, label, mask


def make_structure_view(facts: ExplorationFacts) -> dict[str, Any]:
    """Collect the figures and sentences of the section."""
    components = facts.components
    if components is None or facts.clusters is None:
        return {"why_not": translate(facts.no_structure or ""), "components": None}
    return {
        "why_not": None,
        "components": _make_components(facts, components),
        "clusters": _make_clusters(facts.clusters),
        "maps": _draw_maps(facts, components),
        "legend": _make_legend(facts, components),
    }


def _make_components(facts: ExplorationFacts, components: ComponentsFacts) -> dict[str, Any]:
    explained = components.explained
    n_kept = components.n_kept
    sentence = _(
        "The first two components explain {explained} of the variance of {n_prepared} "
        "prepared columns",
        explained=percent(sum(explained[:2])),
        n_prepared=integer(components.n_prepared),
    )
    if n_kept > 2:
        sentence += _(
            "; the first {count}, {explained}",
            count=spell_count(n_kept),
            explained=percent(sum(explained[:n_kept])),
        )
    return {
        "figure": draw_variance_plot(explained, n_kept),
        "sentence": f"{sentence}.",
        "rows": _describe_sample(components.n_rows, facts),
        "loadings": [
            (_("Component {number}", number=number), _format_loadings(loadings))
            for number, loadings in enumerate(components.loadings, 1)
        ],
    }


def _format_loadings(loadings: Sequence[Loading]) -> str:
    shares = [f"{item.name} {percent(item.share)}" for item in loadings]
    return ", ".join(shares)


def _make_clusters(clusters: ClustersFacts) -> dict[str, Any] | None:
    ks = clusters.k
    if len(ks) < 2:
        return None
    bic = {"full": clusters.mixtures.bic.full, "diag": clusters.mixtures.bic.diag}
    silhouette = {k: value for k, value in enumerate(clusters.silhouette) if value is not None}
    figures = [
        (
            _("Inertia of k-means"),
            draw_curve_by_k(ks, [clusters.inertia], _("Inertia"), "inertia"),
        )
    ]
    sentences, legend = [], []
    if silhouette:
        best = max(silhouette, key=silhouette.__getitem__)
        curve = draw_curve_by_k(
            ks, [clusters.silhouette], _("Mean silhouette"), "silhouette", (0, best)
        )
        figures.append((_("Silhouette of k-means"), curve))
        sentences.append(_describe_silhouette(ks[best], silhouette[best]))
    full, diagonal = (_find_lowest(values) for values in bic.values())
    if full is not None and diagonal is not None:
        kind, place = ("full", full[0]) if full[1] <= diagonal[1] else ("diag", diagonal[0])
        order = [kind, *(name for name in bic if name != kind)]
        figures.append(
            (_("BIC of Gaussian mixtures"),
             draw_curve_by_k(
                 ks, [bic[name] for name in order], _("BIC"), "bic", (0, place)))
        )  # fmt: skip
        sentences.append(_describe_bic(ks, kind, place))
        names = {"full": _("full covariances"), "diag": _("diagonal covariances")}
        colours = ("var(--accent)", "var(--c1)")
        legend = [(colour, names[each]) for colour, each in zip(colours, order, strict=True)]
    return {
        "figures": [{"title": title, "svg": svg} for title, svg in figures],
        "sentences": sentences,
        "legend": legend,
        "n_components": clusters.n_components,
        "n_mixture_components": clusters.mixtures.n_components,
        "n_rows": integer(clusters.n_rows),
        "n_silhouette_rows": integer(clusters.n_silhouette_rows),
    }


def _find_lowest(values: Sequence[float | None]) -> tuple[int, float] | None:
    """Return the place of the lowest value, and the value; None if all are unknown."""
    known = [(k, value) for k, value in enumerate(values) if value is not None]
    return min(known, key=lambda item: item[1]) if known else None


def _describe_silhouette(k: int, value: float) -> str:
    words = next(text for limit, text in _SILHOUETTES if value > limit)
    return _(
        "The silhouette is highest with {count} groups ({value}): {words}.",
        count=spell_count(k),
        value=plain(value, 2),
        words=_(words),
    )


def _describe_bic(ks: Sequence[int], kind: str, place: int) -> str:
    count = spell_count(ks[place])
    if kind == "full":
        text = ngettext(
            "BIC is lowest with {count} Gaussian with full covariance",
            "BIC is lowest with {count} Gaussians with full covariance",
            ks[place],
            count=count,
        )
    else:
        text = ngettext(
            "BIC is lowest with {count} Gaussian with diagonal covariance",
            "BIC is lowest with {count} Gaussians with diagonal covariance",
            ks[place],
            count=count,
        )
    if place == len(ks) - 1:
        text += _(", the largest number tried: no small number of components fits the rows")
    elif ks[place] == 1:
        text += _(": no evidence of groups")
    return f"{text}."


def _draw_maps(facts: ExplorationFacts, components: ComponentsFacts) -> list[dict[str, Any]]:
    tsne, isomap = facts.tsne, facts.isomap
    share = percent(sum(components.explained[:2]))
    drawn = [
        (
            "pca",
            _("Principal components"),
            _("{share} of the variance", share=share),
            components.map,
        )
    ]
    if tsne is not None:
        note = _("perplexity {perplexity}", perplexity=plain(tsne.perplexity, 3))
        drawn.append(("tsne", "t-SNE", note, tsne.map))
    if isomap is not None:
        note = _("{count} neighbours", count=isomap.n_neighbors)
        drawn.append(("isomap", _("Isomap"), note, isomap.map))
    if facts.mds is not None:
        note = _("stress {stress}", stress=plain(facts.mds.stress, 2))
        drawn.append(("mds", _("Multidimensional scaling"), note, facts.mds.map))
    return [
        {
            "title": title,
            "note": _("{count} rows, {note}", count=integer(len(place.x)), note=note),
            "svg": draw_map_plot(
                place.model_dump(),
                [
                    (stand_in, mask)
                    for stand_in, _colour, _label, mask in _make_groups(facts, components, place)
                ],
                name,
                _("Map of rows by {title}", title=title),
            ),
        }
        for name, title, note, place in drawn
    ]


def _make_legend(facts: ExplorationFacts, components: ComponentsFacts) -> list[tuple[str, str]]:
    """Return the colours of all maps, taken from the first, which is the largest."""
    return [
        (colour, label)
        for _stand_in, colour, label, mask in _make_groups(facts, components, components.map)
        if label and mask.any()
    ]


def _make_groups(facts: ExplorationFacts, components: ComponentsFacts, place: MapFacts) -> Groups:
    """Group points by colour: by class, by quintile of a quantity, or all in one group."""
    target = facts.target
    if target is None:
        return [(ACCENT, "var(--accent)", "", np.ones(len(place.x), dtype=bool))]
    values = np.array([np.nan if v is None else v for v in place.targets or []], dtype=float)
    groups = (
        _group_by_class(target.classes, target.positive_class, values)
        if target.classes
        else _group_by_quintile(components.map, values)
    )
    # Grey: the negative class, the rest of many classes, or the middle of a quantity.
    return [*groups, (INK, "var(--ink)", _("target missing"), np.isnan(values))]


def _group_by_class(
    classes: Sequence[ClassSize], positive: str | None, values: np.ndarray
) -> Groups:
    labels = [row.label for row in classes]
    if positive is not None:
        other = labels.index(positive)
        return [
            (NEUTRAL, "var(--neutral)", labels[1 - other], values == 1 - other),
            (ACCENT, "var(--accent)", labels[other], values == other),
        ]
    counts = Counter({k: row.n_rows for k, row in enumerate(classes)})
    most = len(labels) if len(labels) <= SWATCHES else SWATCHES - 1
    chosen = sorted(k for k, _count in counts.most_common(most))
    groups: Groups = [
        (get_palette_colour(index), f"var(--c{index})", labels[k], values == k)
        for index, k in enumerate(chosen)
    ]
    rest = ~np.isin(values, chosen) & ~np.isnan(values)
    if len(labels) > most:
        text = _("{count} smaller classes", count=spell_count(len(labels) - most))
        groups.append((NEUTRAL, "var(--neutral)", text, rest))
    return groups


def _group_by_quintile(first_map: MapFacts, values: np.ndarray) -> Groups:
    """Group points by quintiles of the first map, the same in all maps."""
    first = [v for v in first_map.targets or [] if v is not None]
    ends = np.unique(np.quantile(first, np.arange(1, SHADES) / SHADES))
    codes = np.where(np.isnan(values), -1, np.searchsorted(ends, values, side="left"))
    texts = [_("up to {end}", end=plain(float(end))) for end in ends] + [
        _("above {end}", end=plain(float(ends[-1])))
    ]
    step = (SHADES - 1) / max(1, len(ends))
    groups = []
    for index, text in enumerate(texts):
        tone = round(index * step)
        groups.append((get_shade(tone), f"var(--s{tone})", text, codes == index))
    return groups


def _describe_sample(n_rows: int, facts: ExplorationFacts) -> str:
    total = facts.table.n_rows
    if n_rows == total:
        return _("all {count} rows", count=integer(total))
    return _("a sample of {count} of {total} rows", count=integer(n_rows), total=integer(total))
