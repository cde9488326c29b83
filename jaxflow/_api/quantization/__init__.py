"""Functions of quantization."""
