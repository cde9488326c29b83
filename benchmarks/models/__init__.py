"""The networks that are timed, each written once as a PyTorch program; `torch` is PyTorch or jaxflow."""
