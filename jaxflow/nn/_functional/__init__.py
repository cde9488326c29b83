"""Functions of ``nn.functional`` that are programs over its other functions."""
