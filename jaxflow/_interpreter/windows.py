"""Sliding windows: convolutions and pools."""
