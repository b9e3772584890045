"""Presets: which models a study tries where none are named, and how hard each is tuned."""

from dataclasses import dataclass, field

from arboleda.study.catalogue.baselines import BASELINES
from arboleda.study.catalogue.model import Grid, Space
from arboleda.study.catalogue.thesis_grids import THESIS_GRIDS, THESIS_MODELS, THESIS_STACK
from arboleda.study.search import Grid as WholeGrid
from arboleda.study.search import Halving, SearchStrategy

__all__ = ["PRESETS", "Entry", "Preset"]

# Seconds of one core, by the catalogue's costs, that a fit of a quick study may take about.
QUICK_FIT = 30.0
# Seconds that an exact fit of a kernel may take in the thesis's preset.
THESIS_EXACT_FIT = 120.0
# Fits of these are dear where rows are many: all candidates are looked at on a part of the rows,
# and the best confirmed on all. Neighbours are dear on more rows than machines.
THESIS_SEARCHES: dict[str, SearchStrategy] = {
    "svm": Halving(),
    "neighbours": Halving(share=0.1, keep=5, min_rows=32_000),
}
# What the others must beat.
_BASELINES = tuple(model.key for model in BASELINES)


@dataclass(frozen=True)
class Entry:
    """How one model is tuned; ``grid`` and ``space`` are in place of the catalogue's."""

    model: str
    search: SearchStrategy
    grid: Grid | None = None
    space: Space | None = None


@dataclass(frozen=True)
class Preset:
    """A way to study a table.

    ``models`` are the words that name models (keys of the catalogue, "core", "all") where the user
    names none; those of the other task are passed over. A model without an entry is tuned by
    ``search``, with its own grid. A fit that costs more than ``fit_cost`` seconds by the
    catalogue's costs learns from a random part of the rows, which is told. A kernel machine whose
    exact fit costs more than ``exact_fit`` seconds is approximated. ``stack`` names the
    members of a stack that is built whatever it promises; None: the study chooses.
    """

    key: str
    about: str
    models: tuple[str, ...]
    entries: tuple[Entry, ...] = ()
    search: SearchStrategy = field(default_factory=Halving)
    fit_cost: float | None = None
    exact_fit: float = QUICK_FIT
    stack: tuple[str, ...] | None = None

    def entry(self, model: str) -> Entry:
        """How the model of that key is tuned."""
        named = (entry for entry in self.entries if entry.model == model)
        return next(named, Entry(model, self.search))


PRESETS: dict[str, Preset] = {
    preset.key: preset
    for preset in (
        Preset("quick", "the textbook's models in minutes", ("core",), fit_cost=QUICK_FIT),
        Preset(
            "thesis",
            "the models and grids of the thesis's comparison",
            (*_BASELINES, *THESIS_MODELS),
            tuple(
                Entry(key, THESIS_SEARCHES.get(key, WholeGrid()), grid)
                for key, grid in THESIS_GRIDS.items()
            ),
            exact_fit=THESIS_EXACT_FIT,
            stack=THESIS_STACK,
        ),
        Preset(
            "best",
            "a fixed portfolio of configurations and their ensemble",
            (*_BASELINES, "portfolio"),
            search=WholeGrid(),
        ),
    )
}
