"""Backward, forward derivative and batching of plans, each derived from the function of the plan by jax."""
