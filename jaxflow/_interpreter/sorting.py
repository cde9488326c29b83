"""Ordering: sorts, and the largest few."""
