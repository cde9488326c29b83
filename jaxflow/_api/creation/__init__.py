"""Tensors from numbers, arrays, buffers and sizes."""
