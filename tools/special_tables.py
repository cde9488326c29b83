"""Prints ``jaxflow/_ops/_polynomials.py``: polynomials for the Bessel, Airy and error functions.

    python tools/special_tables.py > jaxflow/_ops/_polynomials.py

Each function is interpolated at Chebyshev points with 60 digits (needs mpmath), the series cut where what
follows is below double precision, and written as a polynomial in a variable that runs from -1 to 1. There
their coefficients add up to little more than the function, so that Horner's rule loses no digits.
"""

from mpmath import mp, mpf

mp.dps = 60
HALF_PI = mp.pi / 2


def _series(f, count=64):
    """The first Chebyshev coefficients of ``f`` on [-1, 1]."""
    angles = [mp.pi * (k + mpf(1) / 2) / count for k in range(count)]
    values = [f(mp.cos(a)) for a in angles]
    return [2 * mp.fsum(v * mp.cos(n * a) for v, a in zip(values, angles)) / count / (2 if n == 0 else 1)
            for n in range(count)]


def _polynomial(series):
    """The same sum in powers of its variable, the highest first."""
    before, now = [mpf(1)], [mpf(0), mpf(1)]
    total = [mpf(0)] * len(series)
    for c in series:
        for power, a in enumerate(before):
            total[power] += c * a
        after = [mpf(0), *(2 * a for a in now)]
        for power, a in enumerate(before):
            after[power] -= a
        before, now = now, after
    return [float(a) for a in reversed(total)]


def fit(f):
    """The coefficients for ``f`` on [-1, 1] in double precision."""
    series = _series(f)
    least = mpf(2) ** -57 * max(abs(c) for c in series)
    while abs(series[-1]) < least:
        series.pop()
    return _polynomial(series)


def _near(f):
    """A function of ``x`` in (0, 8], as one of ``x * x / 32 - 1``."""
    return lambda t: f(8 * mp.sqrt(max((t + 1) / 2, mpf(10) ** -40)))


def _far(f):
    """A function of ``x`` from 8 on, as one of ``128 / (x * x) - 1``."""
    return lambda t: f(8 / mp.sqrt((t + 1) / 2))


def _phase(n, x):
    return x - (2 * n + 1) * mp.pi / 4


def _p(n):
    return lambda x: mp.sqrt(HALF_PI * x) * (
        mp.besselj(n, x) * mp.cos(_phase(n, x)) + mp.bessely(n, x) * mp.sin(_phase(n, x)))


def _q(n):
    return lambda x: mp.sqrt(HALF_PI * x) * x / 8 * (
        mp.bessely(n, x) * mp.cos(_phase(n, x)) - mp.besselj(n, x) * mp.sin(_phase(n, x)))


def _y0(x):
    return mp.bessely(0, x) - mp.log(x) * mp.besselj(0, x) / HALF_PI


def _y1(x):
    return (mp.bessely(1, x) - (mp.log(x) * mp.besselj(1, x) - 1 / x) / HALF_PI) / x


def _small(f):
    """A function of ``x`` in (0, 2], as one of ``x * x / 2 - 1``."""
    return lambda t: f(mp.sqrt(max(2 * (t + 1), mpf(10) ** -40)))


def _large(n):
    """``sqrt(x) exp(x) K_n(x)`` from 2 on, as a function of ``4 / x - 1``."""
    def f(t):
        x = 4 / (t + 1)
        return mp.sqrt(x) * mp.exp(x) * mp.besselk(n, x)
    return f


def _airy(z, sign):
    """Ai and the turn ``zeta`` that it has at ``sign * z``."""
    return mp.airyai(sign * z), mp.mpf(2) / 3 * z * mp.sqrt(z)


def _airy_decay(t):
    """``2 sqrt(pi) z^(1/4) exp(zeta) Ai(z)`` from 2.25 on, as a function of ``4.5 / zeta - 1``."""
    zeta = mpf("4.5") / (t + 1)
    z = (mpf(3) / 2 * zeta) ** (mpf(2) / 3)
    return 2 * mp.sqrt(mp.pi) * mp.root(z, 4) * mp.exp(zeta) * mp.airyai(z)


def _airy_wave(part):
    """Amplitude and shift of Ai and Bi at ``-z``, from 4 on, as functions of ``2 (16 / 3 / zeta)^2 - 1``."""
    def f(t):
        zeta = mpf(16) / 3 / mp.sqrt((t + 1) / 2)
        z = (mpf(3) / 2 * zeta) ** (mpf(2) / 3)
        a, b, angle = mp.airyai(-z), mp.airybi(-z), zeta + mp.pi / 4
        scale = mp.sqrt(mp.pi) * mp.root(z, 4)
        if part == "sin":
            return scale * (mp.sin(angle) * a + mp.cos(angle) * b)
        return scale * (mp.sin(angle) * b - mp.cos(angle) * a) * zeta / (mpf(16) / 3)
    return f


def _erfcx(t):
    """``(1 + 2 x) exp(x^2) erfc(x)`` for ``x`` from 0, as a function of ``(x - 3.75) / (x + 3.75)``."""
    x = mpf("3.75") * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x) if x < 40 else (1 + 2 * x) / (mp.sqrt(mp.pi) * x) * (
        1 - 1 / (2 * x**2) + 3 / (4 * x**4) - mpf(15) / (8 * x**6) + mpf(105) / (16 * x**8)
        - mpf(945) / (32 * x**10) + mpf(10395) / (64 * x**12) - mpf(135135) / (128 * x**14))


TABLES = {
    "J0": ("`J0` at ``x`` in [0, 8], of ``x * x / 32 - 1``", _near(lambda x: mp.besselj(0, x))),
    "J1": ("``J1 / x``, likewise", _near(lambda x: mp.besselj(1, x) / x)),
    "Y0": ("``Y0 - 2 / pi log(x) J0``, likewise", _near(_y0)),
    "Y1": ("``(Y1 - 2 / pi (log(x) J1 - 1 / x)) / x``, likewise", _near(_y1)),
    "P0": ("the part of `J0` and `Y0` in phase, from 8 on, of ``128 / (x * x) - 1``", _far(_p(0))),
    "Q0": ("the part out of phase, times ``x / 8``", _far(_q(0))),
    "P1": ("the same of `J1` and `Y1`", _far(_p(1))),
    "Q1": ("and the part out of phase", _far(_q(1))),
    "I0": ("`I0` at ``x`` in [0, 2], of ``x * x / 2 - 1``", _small(lambda x: mp.besseli(0, x))),
    "I1": ("``I1 / x``, likewise", _small(lambda x: mp.besseli(1, x) / x)),
    "K0": ("``K0 + log(x / 2) I0``, likewise",
           _small(lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x))),
    "K1": ("``x (K1 - log(x / 2) I1)``, likewise",
           _small(lambda x: x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x)))),
    "K0_LARGE": ("``sqrt(x) exp(x) K0`` from 2 on, of ``4 / x - 1``", _large(0)),
    "K1_LARGE": ("``sqrt(x) exp(x) K1``, likewise", _large(1)),
    "AIRY": ("Ai at ``x`` in [-4, 2.25], of ``(x + 0.875) / 3.125``",
             lambda t: mp.airyai(mpf("3.125") * t - mpf("0.875"))),
    "AIRY_DECAY": ("``2 sqrt(pi) x^(1/4) exp(zeta) Ai`` from 2.25 on, of ``4.5 / zeta - 1``", _airy_decay),
    "AIRY_SIN": ("the part of Ai at ``-x`` in phase, from 4 on, of ``2 (16 / 3 / zeta)^2 - 1``",
                 _airy_wave("sin")),
    "AIRY_COS": ("the part out of phase, times ``3 / 16 zeta``", _airy_wave("cos")),
    "ERFCX": ("``(1 + 2 x) erfcx`` from 0 on, of ``(x - 3.75) / (x + 3.75)``", _erfcx),
}

if __name__ == "__main__":
    print('"""Polynomials for special functions, highest power first; made by `tools/special_tables.py`."""')
    for name, (what, f) in TABLES.items():
        print(f"\n#: {what[0].upper() + what[1:] if what[0].isalpha() else what}.\n{name} = (")
        numbers = [f"{c!r}," for c in fit(f)]
        for start in range(0, len(numbers), 4):
            print("   ", *numbers[start : start + 4])
        print(")")
