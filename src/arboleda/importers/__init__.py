"""Models of other libraries as ours, and ours in a format that others read."""

from arboleda.importers._lightgbm import from_lightgbm
from arboleda.importers._sklearn import from_sklearn
from arboleda.importers._xgboost import from_xgboost

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost"]
