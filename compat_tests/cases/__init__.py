"""Tables of cases, one file a topic."""
