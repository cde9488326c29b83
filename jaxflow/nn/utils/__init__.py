"""Helpers around parameters and gradients."""

from jaxflow.nn.utils import parametrizations, parametrize, rnn, stateless
from jaxflow.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from jaxflow.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from jaxflow.nn.utils.init import skip_init
from jaxflow.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]
