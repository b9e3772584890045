"""Import of models of scikit-learn, XGBoost and LightGBM.

One module for each library (``_sklearn``, ``_xgboost``, ``_lightgbm``) with the modules that read
its format; ``_columns`` and ``_trees`` convert columns, trees and estimators for all.
No code of a model is run.
"""

from arboleda.importers._lightgbm import from_lightgbm
from arboleda.importers._sklearn import from_sklearn
from arboleda.importers._xgboost import from_xgboost

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost"]
