"""Which versions of JAX jaxflow runs on."""

from __future__ import annotations

import jax

OLDEST, BEYOND = "0.10.1", "0.13"  # as in pyproject.toml


def check(found: str = jax.__version__) -> None:
    """Refuse other versions of JAX than those that jaxflow is tested with. ImportError."""
    if not _numbers(OLDEST) <= _numbers(found) < _numbers(BEYOND):
        raise ImportError(
            f"jaxflow runs on jax from {OLDEST} on and before {BEYOND}, and found jax {found}: "
            f"pip install 'jax>={OLDEST},<{BEYOND}'")


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers at its beginning; what follows them names a build."""
    found = []
    for part in version.split("."):
        if not part.isdecimal():
            break
        found.append(int(part))
    return tuple(found)
