"""OneFlow's ``nn.utils``."""

from jaxflow.nn import utils as _source

from .._dialect import fill as _fill

__getattr__ = _fill("nn.utils", globals(), _source)
