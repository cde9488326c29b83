"""PyTorch's random numbers on CPUs, in NumPy: the Mersenne twister and what is drawn from it."""
