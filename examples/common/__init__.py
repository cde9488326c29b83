"""What the examples share: a progress bar, a learning curve, the digits. No tensors here."""
