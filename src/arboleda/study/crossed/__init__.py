"""Columns made of others: which are worth making, and making them."""

from arboleda.study.crossed.crossed_columns import CrossedColumns
from arboleda.study.crossed.ideas import Idea

__all__ = ["CrossedColumns", "Idea"]
