"""Angles of the von Mises distribution, from PyTorch's words."""

from __future__ import annotations

import numpy as np

from .cursor import Cursor
from .rounding import narrow
from .uniform import double


def von_mises(cursor: Cursor, loc: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """Angles of ``[-pi, pi)`` around ``loc``, by Best and Fisher's rejection from wrapped Cauchy angles.

    Algorithm VM of Best and Fisher, "Efficient simulation of the von Mises distribution", 1979. Each round
    draws three numbers for every element, also for those that have their angle.
    """
    k = concentration.astype(np.float64)
    with np.errstate(all="ignore"):
        tau = 1 + np.sqrt(1 + 4 * k * k)
        rho = (tau - np.sqrt(2 * tau)) / (2 * k)
        r = np.where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho))
        angle, done = np.zeros(k.shape), np.zeros(k.shape, bool)
        while not done.all():
            first, second, third = double(cursor, 3 * k.size).reshape(3, *k.shape)
            z = np.cos(np.pi * first)
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            # nan is taken as it comes: it would be proposed for ever
            taken = (c * (2 - c) - second > 0) | (np.log(c / second) + 1 - c >= 0) | np.isnan(c)
            proposed = np.sign(third - 0.5) * np.arccos(np.clip(f, -1, 1))
            angle = np.where(taken, proposed, angle)  # PyTorch proposes again to all of them
            done |= taken
    turned = (angle + np.pi + loc.astype(np.float64)) % (2 * np.pi) - np.pi
    return narrow(turned, loc.dtype)
