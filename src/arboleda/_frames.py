"""Creation of pandas data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def new_frame(data: Any, **options: Any) -> pd.DataFrame:
    """Create a data frame; arguments are those of ``pandas.DataFrame``."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ImportError("data frames require pandas: pip install pandas") from error
    return pd.DataFrame(data, **options)
