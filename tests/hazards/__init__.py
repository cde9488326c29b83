"""Harnesses for what may come in between: interrupts, signals, finalizers, other threads; see README.md."""
