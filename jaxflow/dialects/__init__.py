"""Interfaces of other frameworks on jaxflow's tensors, as tables of names and of differences.

They are imported as ``jaxflow.oneflow`` and ``jaxflow.paddle``: this folder is on the search path of the
package ``jaxflow``. Nothing in jaxflow imports them.
"""

__path__ = ()  # nothing in here has a second name, under which it would be loaded once more
