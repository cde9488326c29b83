"""jaxflow inside JAX and JAX inside jaxflow: functions and modules that cross over."""

from .wrap import wrap_jax as wrap_jax
