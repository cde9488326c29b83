"""The path of one operation on tensors: its plan, its run, its node in the graph."""
