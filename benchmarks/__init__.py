"""Timings of jaxflow beside PyTorch and hand-written JAX; see README.md in this folder."""
