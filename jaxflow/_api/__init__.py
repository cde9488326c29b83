"""Composites: public functions and methods written in terms of other public operations."""
