"""The store of types of scripted modules, which programs empty. Scripting keeps no types here."""

from __future__ import annotations


class ConcreteTypeStore:
    """Types of scripted modules in PyTorch; there are none."""

    def __init__(self) -> None:
        self.type_store: dict = {}


concrete_type_store = ConcreteTypeStore()
