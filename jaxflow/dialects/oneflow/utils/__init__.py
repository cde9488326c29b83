"""OneFlow's utilities."""

from . import data as data
