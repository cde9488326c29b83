"""OneFlow's ``nn.functional``."""

from jaxflow.nn import functional as _source

from .._dialect import fill as _fill

__getattr__ = _fill("nn.functional", globals(), _source)
