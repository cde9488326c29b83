"""Settings of the process that PyTorch has, and what they mean here."""
