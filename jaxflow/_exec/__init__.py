"""Running plans: recorded into programs, compiled by XLA or interpreted by NumPy, at once or traced."""
