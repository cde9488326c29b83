"""The numbers by which nodes of a graph, and what goes on beside it, are put in order."""

import itertools

#: The next one.
next_sequence = itertools.count().__next__
