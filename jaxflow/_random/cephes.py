"""Coefficients of the Cephes library (Moshier 1984-2000): float32 numbers, kept as float64."""

from __future__ import annotations

import math

import numpy as np


def constants(*numbers: float) -> list[float]:
    """Float32 numbers, as float64."""
    return [float(np.float32(x)) for x in numbers]


# Cephes, logf.c: log(1 + x) = x - x**2 / 2 + x**3 * P(x) for sqrt(1/2) <= 1 + x < sqrt(2), and ln 2 in two
# parts.
LOG = constants(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                  -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
LN2_LOW, LN2_HIGH = constants(-2.12194440e-4, 0.693359375)
SQRT_HALF = np.float32(0.707106781186547524)
# Cephes, sinf.c: pi/4 in three parts; sin(x) = x + x**3 * S(x**2), cos(x) = 1 - x**2 / 2 + x**4 * C(x**2).
FOUR_OVER_PI = np.float32(1.27323954473516)
QUARTER = constants(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
SIN = constants(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
COS = constants(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
TWO_PI = np.float32(2 * math.pi)
