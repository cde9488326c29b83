"""Functions of layers: their argument forms around the operations."""
