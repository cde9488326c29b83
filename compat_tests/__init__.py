"""jaxflow held against real PyTorch."""
