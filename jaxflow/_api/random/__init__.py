"""Random numbers in all of their forms."""
