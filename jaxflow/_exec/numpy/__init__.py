"""Cold code on CPUs: what NumPy runs instead of XLA, and when."""
