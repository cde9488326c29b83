"""Programs that people have written for PyTorch, run as they are on PyTorch and on jaxflow."""
