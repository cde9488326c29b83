"""Helpers for parameters."""

from jaxflow.nn import utils as _utils

from .. import _table as _table_of_tensors
from .._rows import rows as _rows

FUNCTIONS = _rows("nn.utils", """
clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False) =
    U.clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)
clip_grad_value_(parameters, clip_value) = U.clip_grad_value_(parameters, clip_value)
parameters_to_vector(parameters) = U.parameters_to_vector(parameters)
vector_to_parameters(vec, parameters) = U.vector_to_parameters(vec, parameters)
""", {**_table_of_tensors.NAMES, "U": _utils})

globals().update(FUNCTIONS)
