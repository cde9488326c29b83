"""jaxflow inside JAX and JAX inside jaxflow: functions and modules that cross over."""

from .modules import load_jax_params as load_jax_params
from .modules import to_jax as to_jax
from .wrap import wrap_jax as wrap_jax
