"""The operators of torchvision's compiled library."""
