"""Where the functions of a record are published."""

from __future__ import annotations

from jaxflow._plans.op import Op

from .composite import Composite


def places_of(record: Op | Composite) -> list[tuple[str, str]]:
    """Namespace and name of every place a record is published in; a dotted alias names another one."""
    places = [(record.namespace, record.name)]
    for alias in record.aliases:
        namespace, dot, name = alias.rpartition(".")
        places.append((namespace, name) if dot else (record.namespace, name))
    return places
