"""Programs of StableHLO made of modules and functions: what `jaxflow.jit` and `jaxflow.export` save."""
