"""Operators registered by name."""
