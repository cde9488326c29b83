"""Reductions, norms, sorting, histograms."""
