"""Writing to tensors: in place, to a part of a large memory, into another shape."""
