"""Pure functions on jax arrays, declared as ops, one file per family."""
