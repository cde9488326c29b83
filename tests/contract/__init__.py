"""The contract: every sentence of the five documents jaxflow started from, and the test that holds it.

``rows`` has a table for each document, in our own words; ``python -m contract`` (from ``tests/``) prints
``docs/contract.md``. The tests beside it run in every form: deferred, eager, and traced inside ``jax.jit``.
"""
