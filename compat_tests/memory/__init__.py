"""Programs that share memory between tensors and NumPy arrays, run on real torch and on jaxflow."""
