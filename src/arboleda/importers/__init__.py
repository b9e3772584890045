"""Import of models of scikit-learn, XGBoost and LightGBM."""

from arboleda.importers._lightgbm import from_lightgbm
from arboleda.importers._sklearn import from_sklearn
from arboleda.importers._xgboost import from_xgboost

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost"]
