"""Constructors from before `tensor`, and functions of the operator library."""
