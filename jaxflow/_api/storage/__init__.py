"""Storages: the memory behind tensors, as objects."""
