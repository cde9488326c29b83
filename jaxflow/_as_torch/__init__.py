"""The name ``torch`` for jaxflow: what ``python -m jaxflow`` and ``import jaxflow.as_torch`` set up."""
