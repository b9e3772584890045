"""Data frames to return, where pandas is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def new_frame(data: Any, **options: Any) -> pd.DataFrame:
    """Make a data frame; arguments are those of ``pandas.DataFrame``."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ImportError("data frames need pandas: pip install pandas") from error
    return pd.DataFrame(data, **options)
