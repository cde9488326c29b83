"""The parts of `jaxflow.utils.benchmark`."""
