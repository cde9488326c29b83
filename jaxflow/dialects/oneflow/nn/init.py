"""OneFlow's ``nn.init``."""

from jaxflow.nn import init as _source

from .._dialect import fill as _fill

__getattr__ = _fill("nn.init", globals(), _source)
