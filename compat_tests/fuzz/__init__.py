"""Random programs of views, in-place writes and backward passes, run on torch and on jaxflow.

``python -m compat_tests.fuzz --programs 5000 --executor eager --seed 0`` runs them by the thousand
and prints, for each disagreement, the seed and the shortest program found that still shows it.
"""
