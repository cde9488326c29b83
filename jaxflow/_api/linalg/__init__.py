"""Products, decompositions and solutions."""
