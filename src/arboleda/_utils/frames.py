"""Creation of pandas data frames and matplotlib figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_frame(data: Any, **options: Any) -> pd.DataFrame:
    """Create a data frame; arguments are those of ``pandas.DataFrame``."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ImportError("data frames require pandas: pip install pandas") from error
    return pd.DataFrame(data, **options)


def new_figure(**options: Any) -> Figure:
    """Create a figure; ``options`` are those of ``matplotlib.pyplot.figure``."""
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ImportError("plot() needs matplotlib: pip install 'arboleda[plot]'") from error
    return plt.figure(**options)


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new figure."""
    return new_figure().add_subplot() if ax is None else ax
