"""Layers, under OneFlow's names."""

from jaxflow import nn as _nn

from .._dialect import Parameter as Parameter
from .._dialect import fill as _fill
from .._dialect import module as Module  # noqa: F401
from . import functional as functional
from . import init as init
from . import utils as utils

__getattr__ = _fill("nn", globals(), _nn)
