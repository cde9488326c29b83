"""The same workloads in JAX, without a framework: pure functions under one `jax.jit`, state donated.

Written to be fast: pictures lie as NHWC, leading dimensions are flattened before a matrix product, norms
and pooling have gradients in closed form where XLA's are slow, batches are on the device beforehand.
"""
