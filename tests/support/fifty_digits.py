"""ψ_β in arithmetic of as many digits as it takes: the reference for the table."""

import mpmath as mp

DIGITS = 50


def smoothed(a, beta):
    """Return ψ_β(a) to at least 50 digits, by the closed form (Hu et al. 2022, appendix), as an mpf."""
    # The terms grow like a³ and cancel to less than 1.
    extra = 3 * max(0, int(mp.log10(abs(a)))) if a else 0
    with mp.workdps(DIGITS + 15 + extra):
        return +_closed_form(mp.mpf(a), mp.mpf(beta)) if a else mp.mpf(0)


def _closed_form(a, beta):
    b = abs(a) / mp.sqrt(beta)
    polynomial = a * (1 - b**2 / 2) - a**3 / 6
    if b < mp.mpf("1e-5"):  # beyond 10⁵ standard deviations: corrections are below 10^(−10⁹)
        return polynomial
    root, density = mp.sqrt(2), 1 / mp.sqrt(2 * mp.pi)
    below, above = (root - a) / b, (root + a) / b
    f_below, f_above = mp.ncdf(-below), mp.ncdf(-above)
    e_below, e_above = mp.exp(-(below**2) / 2), mp.exp(-(above**2) / 2)
    correction = (
        2 * root / 3 * (f_below - f_above)
        - (a - a**3 / 6) * (f_below + f_above)
        + b * density * (1 - a**2 / 2) * (e_above - e_below)
        + a * b**2 / 2 * (f_above + f_below + density * (above * e_above + below * e_below))
        + b**3 / 6 * density * ((2 + below**2) * e_below - (2 + above**2) * e_above)
    )
    return polynomial + correction


def integral(a, beta):
    """Return ψ_β(a) from its definition, an expectation, by quadrature to 20 digits."""
    with mp.workdps(25):
        root, a, rate = mp.sqrt(2), mp.mpf(a), mp.sqrt(mp.mpf(beta))

        def expected(eta):
            x = a * (1 + eta / rate)
            value = x - x**3 / 6 if abs(x) <= root else mp.sign(x) * 2 * root / 3
            return value * mp.npdf(eta)

        kinks = [(sign * root / abs(a) - 1) * rate for sign in (-1, 1)]
        edges = sorted({-12, 12, *(kink for kink in kinks if abs(kink) < 12), *range(-8, 9, 4)})
        return mp.quad(expected, edges)


def supremum(beta):
    """Return sup |ψ_β| to 50 digits."""
    with mp.workdps(DIGITS):
        return 2 * mp.sqrt(2) / 3 * mp.erf(mp.sqrt(mp.mpf(beta) / 2))
