"""Special functions under OneFlow's names."""

import jaxflow as _jaxflow

from ._dialect import fill as _fill

__getattr__ = _fill("special", globals(), _jaxflow.special)
