"""Learning rate schedules, under OneFlow's names."""

from jaxflow.optim import lr_scheduler as _source

from .._dialect import fill as _fill

__getattr__ = _fill("optim.lr_scheduler", globals(), _source)
