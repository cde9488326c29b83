"""Datasets that are made of each other."""

from . import iter as iter
from . import map as map
