"""Models of other libraries as ours, and ours in a format that others read."""

from arboleda.interchange._lightgbm import from_lightgbm
from arboleda.interchange._sklearn import from_sklearn
from arboleda.interchange._xgboost import from_xgboost

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost"]
