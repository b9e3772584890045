"""The search space of the arboleda model, and TabArena's generator of configurations.

python examples/tabarena/search_space.py    # prints five random configurations
"""

from __future__ import annotations

from typing import Any

from arboleda_model import ArboledaModel
from autogluon.common.space import Categorical, Real
from autogluon.core.searcher.local_random_searcher import LocalRandomSearcher

# The first configuration: everything is chosen by the training rows.
MANUAL_CONFIGS: list[dict[str, Any]] = [{}]

# A value of "auto" leaves the choice to held-out rows, as by default.
SEARCH_SPACE = {
    "learning_rate": Real(0.02, 0.12, default=0.05, log=True),
    "max_leaf_nodes": Categorical("auto", 8, 16, 31, 63, 127),
    "min_samples_leaf": Categorical("auto", 2, 5, 10, 20, 50),
    "max_features": Real(0.2, 1.0, default=0.5),
    "subsample": Real(0.6, 1.0, default=1.0),
    "l2_regularization": Real(1e-3, 10.0, default=1e-3, log=True),
    "min_child_weight": Real(1e-3, 3.0, default=1e-3, log=True),
    "extra_trees": Categorical("auto", False, True),
    "linear_leaves": Categorical("auto", False),
    "cat_smooth": Real(1.0, 100.0, default=10.0, log=True),
    "cat_l2": Real(0.1, 30.0, default=3.0, log=True),
}


def sample_configs(n_configs: int) -> list[dict[str, Any]]:
    """Return random configurations, always the same ones, after the default."""
    searcher = LocalRandomSearcher(search_space=SEARCH_SPACE)
    searcher.get_config()  # the default of the space
    return [searcher.get_config() for _ in range(n_configs)]


def make_generator() -> Any:
    """Return TabArena's generator, whose ``generate_all_bag_experiments`` a benchmark runs."""
    from tabarena.utils.config_utils import ConfigGenerator

    return ConfigGenerator(
        model_cls=ArboledaModel, search_space=SEARCH_SPACE, manual_configs=MANUAL_CONFIGS
    )


if __name__ == "__main__":
    for config in sample_configs(5):
        print(config)
