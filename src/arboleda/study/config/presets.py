"""Presets: the models that a study tries by default, and how thoroughly each is tuned."""

from dataclasses import dataclass, field

from arboleda.catalogue.entries import THESIS_GRIDS, THESIS_MODELS, THESIS_STACK
from arboleda.catalogue.model import Grid, Space
from arboleda.catalogue.simple_models import BASELINES
from arboleda.study.search.strategies import GridStrategy, HalvingStrategy, SearchStrategy

__all__ = ["PRESETS", "Entry", "Preset"]

# Approximate maximum seconds of one core for a fit of a quick study, by the catalogue's costs:
# without a time budget, and with one, which limits the whole study.
QUICK_FIT, QUICK_FIT_IN_BUDGET = 0.6, 30.0
# Rows of a fold from which a quick study tries candidates at low fidelity first.
QUICK_HALVING_ROWS = 4_096
# Of so many candidates, a quick study tries one in full; at least two of each model.
QUICK_KEEP = 6
# Landmarks of an approximated support vector machine in a quick study.
QUICK_LANDMARKS = 200
# Maximum seconds of an exact kernel fit.
EXACT_FIT = 30.0
# Maximum seconds of an exact kernel fit in the thesis preset.
THESIS_EXACT_FIT = 120.0
# Fits of these models are expensive on many rows: all candidates are tried on a part of the rows,
# and the best ones on all. Neighbours become expensive at more rows than SVMs.
THESIS_SEARCHES: dict[str, SearchStrategy] = {
    "svm": HalvingStrategy(),
    "neighbours": HalvingStrategy(share=0.1, keep=5, min_rows=32_000),
}
# Models that the others must beat.
_BASELINES = tuple(model.key for model in BASELINES)


@dataclass(frozen=True)
class Entry:
    """How one model is tuned; ``grid`` and ``space`` replace the catalogue's."""

    model: str
    search: SearchStrategy
    grid: Grid | None = None
    space: Space | None = None


@dataclass(frozen=True)
class Preset:
    """A way to study a table.

    ``models`` are the default names of models (keys of the catalogue, "core", "all"); models of the
    other task are skipped. A model without an entry is tuned by ``search`` with its own grid. A fit
    that costs more than ``fit_cost`` seconds by the catalogue (with a time budget,
    ``fit_cost_in_budget``) uses a random subset of the rows, which is reported. A kernel machine
    whose exact fit costs more than ``exact_fit`` seconds is approximated, by ``max_landmarks`` rows
    at most. ``stack`` names the members of a stack that is always built; None: the study chooses.
    ``class_metric`` is the default metric of a classification. With ``calibrates``, classifiers
    without probabilities are calibrated in each fit.
    """

    key: str
    about: str
    models: tuple[str, ...]
    entries: tuple[Entry, ...] = ()
    search: SearchStrategy = field(default_factory=HalvingStrategy)
    fit_cost: float | None = None
    fit_cost_in_budget: float | None = None
    exact_fit: float = EXACT_FIT
    max_landmarks: int | None = None
    stack: tuple[str, ...] | None = None
    class_metric: str = "log_loss"
    calibrates: bool = True

    def entry(self, model: str) -> Entry:
        """Return how the model of that key is tuned."""
        named = (entry for entry in self.entries if entry.model == model)
        return next(named, Entry(model, self.search))


PRESETS: dict[str, Preset] = {
    preset.key: preset
    for preset in (
        Preset(
            "quick",
            "the textbook's models in minutes",
            ("core",),
            search=HalvingStrategy(keep=QUICK_KEEP, min_rows=QUICK_HALVING_ROWS),
            fit_cost=QUICK_FIT,
            fit_cost_in_budget=QUICK_FIT_IN_BUDGET,
            max_landmarks=QUICK_LANDMARKS,
        ),
        Preset(
            "thesis",
            "the models and grids of the thesis's comparison",
            (*_BASELINES, *THESIS_MODELS),
            tuple(
                Entry(key, THESIS_SEARCHES.get(key, GridStrategy()), grid)
                for key, grid in THESIS_GRIDS.items()
            ),
            exact_fit=THESIS_EXACT_FIT,
            stack=THESIS_STACK,
            class_metric="accuracy",
            calibrates=False,
        ),
        Preset(
            "best",
            "a fixed portfolio of configurations and their ensemble",
            (*_BASELINES, "portfolio"),
            search=GridStrategy(),
        ),
    )
}
