"""One trace for many shapes: symbolic dimensions, families of plans that share a trace, and their cache."""
