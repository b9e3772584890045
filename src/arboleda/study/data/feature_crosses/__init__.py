"""Columns made of others: which are worth making, and making them."""

from arboleda.study.data.feature_crosses.crossed_columns import CrossedColumns
from arboleda.study.data.feature_crosses.feature_cross import FeatureCross

__all__ = ["CrossedColumns", "FeatureCross"]
