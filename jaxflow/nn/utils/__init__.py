"""Helpers around parameters and gradients."""
