"""Optimizers, under OneFlow's names and with its defaults."""

from jaxflow import optim as _optim

from .._dialect import fill as _fill
from . import lr_scheduler as lr_scheduler

__getattr__ = _fill("optim", globals(), _optim)
