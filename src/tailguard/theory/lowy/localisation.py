"""Lowy 2026, Theorems 2.1 and 3.1: pure privacy by localisation and output perturbation, for convex losses.

The assumption is E sup_w ‖∇f(w, z)‖^k ≤ G_k^k with k ≥ 2: `order` is k, `bound` is G_k, `diameter` is D, and the
paper's error probability δ is `failure`; privacy is pure. G_1 ≤ G_2 ≤ G_k are extra arguments; where they are not
given, G_k stands for them, which leaves every bound valid.

Corrections. (i) Proposition C.3 bounds the bias of the extension on W_0 by the diameter of W_0, but f_C has its infimum
over all of W: with f(w) = 10w on W = [0, 1], C = 1 and W_0 = [0.99, 1] the bias at w = 1 is 9, and the claim 0.09.
(ii) Algorithm 2 is run with ε/2, so that W_0 has the diameter 1200·Cd/(λmε), not 600 (Proposition C.3, (30)). (iii) An
isotropic Laplace vector exceeds β(d + t) with a probability far above e^(−t): 0.238 at d = 20, t = 3. True is
P(‖b‖ > β(d + √(2dt) + t)) ≤ e^(−t), and the lemmas that use the bound survive with it. (iv) Algorithm 1 with T =
⌈log₂ n⌉ ends in phases without records, m_t = ⌊⌊n/2^t⌋/J⌋ = 0. (v) Lemma C.2 needs ε ≤ ζd.

The bias has a proof that needs no W_0 (localisation.md), and then a single release at full ε is enough, with a sixth of
the noise: `localised_risk` is its theorem, in expectation and with constants.
"""

import math
from functools import partial

from tailguard._validate import integer, real
from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "RATES",
    "base_ridge",
    "double_output_risk",
    "extension_bias",
    "extension_clip",
    "localised_phases",
    "localised_ridge",
    "localised_risk",
    "trivial_risk",
]


def trivial_risk(setting: Setting, first: float | None = None) -> float:
    """Return G_1·D: the excess risk of an answer that ignores the data is no larger.

    Parameters
    ----------
    setting : Setting
        Uses order ≥ 2, bound, diameter.
    first : float or None
        G_1; None takes `bound`.
    """
    setting.check("trivial_risk", least_order=2.0)
    return setting.diameter * moment(setting, "first", first)


def extension_clip(setting: Setting, size: int | None = None) -> float:
    """Return C = G_k·(mε/d)^(1/k) of Propositions 2.5 and 3.2, where the bias of the extension equals the noise.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound.
    size : int or None
        m, the number of records of a block; None takes n.
    """
    setting.check("extension_clip", least_order=2.0)
    m = setting.n if size is None else integer("size", size, "extension_clip")
    return float(setting.bound * (m * setting.epsilon / setting.d) ** (1.0 / setting.order))


def extension_bias(setting: Setting, clip: float) -> float:
    """Return D·G_k^k/((k − 1)·C^(k−1)), Lemma 2.3: an expected bound on max_w of the loss above its extension.

    Parameters
    ----------
    setting : Setting
        Uses order ≥ 2, bound, diameter.
    clip : float
        C.
    """
    setting.check("extension_bias", least_order=2.0)
    C = real("clip", clip, "extension_bias", above=0.0)
    ratio = (setting.bound / C) ** (setting.order - 1.0)
    return float(setting.diameter * setting.bound * ratio / (setting.order - 1.0))


def double_output_risk(setting: Setting, second: float | None = None) -> float:
    """Return the rate of Theorem 3.1: D·(G_k·(d·ln(1/δ)/(nε))^κ + G_2·√(ln(1/δ)/n)), δ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, failure < 1/5, diameter. Hidden constants are 1.
    second : float or None
        G_2; None takes `bound`.

    Returns
    -------
    float
        An excess risk that localised double output perturbation exceeds with probability at most `failure`.

    Notes
    -----
    Gap in the proof. The bias of the extension on W_0 (Proposition C.3) is bounded by the diameter of the wrong set;
    see the module, and localisation.md for a proof that holds.
    """
    check(setting, "double_output_risk")
    log = math.log(1.0 / setting.failure)
    sampling = moment(setting, "second", second) * math.sqrt(log / setting.n)
    return float(setting.diameter * (setting.bound * setting.private(setting.d * log) + sampling))


def base_ridge(setting: Setting, second: float | None = None) -> float:
    """Return λ_1 = (G_k·(d/(nε))^κ + G_2/√n)/D, with which λ_1·D² is the rate that Theorem 2.1 promises.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, diameter. "There exists a choice", says the theorem; constants are 1.
    second : float or None
        G_2; None takes `bound`.
    """
    setting.check("base_ridge", least_order=2.0)
    sampling = moment(setting, "second", second) / math.sqrt(setting.n)
    return float((setting.bound * setting.private(setting.d) + sampling) / setting.diameter)


def localised_risk(
    setting: Setting, *, ratio: float = 8.0, tolerance: float = 0.01, second: float | None = None
) -> float:
    """Return a bound on the expected excess risk of localised single output perturbation, with constants.

    D·√(2S), where S adds sampling, clipping bias and noise of the phases t = 1 … T (localisation.md).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, diameter.
    ratio : float
        r > 4, by which the regulariser grows from phase to phase; the paper has 32.
    tolerance : float
        Public error of the solver, in units of C/(λm).
    second : float or None
        G_2; None takes `bound`.

    Returns
    -------
    float
        Expected excess risk over data and noise, with T = `localised_phases` and λ_1 = `localised_ridge`.

    Notes
    -----
    One repetition (J = 1) and no logarithm of a failure probability: what an expectation needs.
    """
    return setting.diameter * math.sqrt(2.0 * _least(setting, ratio, tolerance, second)[0])


def localised_phases(
    setting: Setting, *, ratio: float = 8.0, tolerance: float = 0.01, second: float | None = None
) -> int:
    """Return the number of phases T for which `localised_risk` is smallest; parameters as there."""
    return _least(setting, ratio, tolerance, second)[1]


def localised_ridge(
    setting: Setting, *, ratio: float = 8.0, tolerance: float = 0.01, second: float | None = None
) -> float:
    """Return λ_1 = √(2S)/D of `localised_risk`, which balances λ_1·D²/2 against S/λ_1; parameters as there."""
    return math.sqrt(2.0 * _least(setting, ratio, tolerance, second)[0]) / setting.diameter


def _least(setting: Setting, ratio: float, tolerance: float, second: float | None) -> tuple[float, int]:
    """Return the smallest S over the number of phases, and that number."""
    setting.check("localised_risk", least_order=2.0)
    integer("n", setting.n, "localised_risk", at_least=2)
    r = real("ratio", ratio, "localised_risk", above=4.0)
    real("tolerance", tolerance, "localised_risk", at_least=0.0)
    G2 = moment(setting, "second", second)
    total, weight, best = 0.0, 1.0, (math.inf, 1)  # weight = r^(1 − t)
    for t in range(1, setting.n.bit_length()):
        m = setting.n >> t
        error = _squared_error(setting, m, tolerance, G2)
        total += 2.0 * G2**2 * weight / m
        best = min(best, (total + setting.bound * math.sqrt(error) * weight, t))
        total += 0.5 * r * weight * error
        weight /= r
    return best


def _squared_error(setting: Setting, m: int, tolerance: float, G2: float) -> float:
    """Return λ² times a bound on E‖released − regularised minimiser‖² for m records."""
    a = float(setting.bound * (setting.d / (m * setting.epsilon)) ** setting.power)
    noise = 8.0 * (1.0 + tolerance) ** 2 * a**2
    solver = 2.0 * (tolerance * setting.epsilon / setting.d * a) ** 2
    return noise + solver + 8.0 * a**2 + 8.0 * G2**2 / m


def check(setting: Setting, owner: str) -> None:
    """Raise the library's sentence unless the conditions of the paper's upper bounds hold."""
    setting.check(owner, least_order=2.0)
    real("failure", setting.failure, owner, below=0.2)


def moment(setting: Setting, name: str, value: float | None) -> float:
    """Return G_1 or G_2: the given number, at most G_k, or G_k itself."""
    if value is None:
        return setting.bound
    return real(name, value, "a theorem of Lowy 2026", above=0.0, at_most=setting.bound)


_rate = partial(
    Rate,
    kind="upper",
    task="convex",
    privacy="pure",
    moment="norm",
    orders=(2.0, math.inf),
    exponent_n=MINUS_KAPPA,
    exponent_d=Exponent(0, 1),
    exponent_epsilon=MINUS_KAPPA,
    exponent_sampling=Exponent(-HALF),
)

RATES = (
    _rate(
        name="localised double output perturbation",
        paper="Lowy 2026",
        statement="Theorem 3.1",
        explicit=False,
        formula="D·M·((d·ln(1/β)/(nε))^κ + √(ln(1/β)/n))",
        function=double_output_risk,
        caveat="Proposition C.3 bounds the bias of the extension by the diameter of the wrong set.",
    ),
    _rate(
        name="localised output perturbation",
        paper="tailguard, after Lowy 2026",
        statement="Theorem 2.1 with a single release",
        explicit=True,
        formula="D·√(2S), S = Σ_t 2M²/(r^(t−1)m) + r^(2−t)·e²/2, e² = 16.2·M²·(d/(mε))^(2κ) + 8M²/m, m = n/2^t",
        function=localised_risk,
    ),
)
