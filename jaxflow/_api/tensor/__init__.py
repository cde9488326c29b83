"""The attributes of tensors, and how their numbers get out."""
