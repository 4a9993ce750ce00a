"""Lowy 2026: its theorems as functions of a `Setting`.

Lowy, "Optimal Rates for Pure ε-Differentially Private Stochastic Convex Optimization with Heavy Tails".

| statement | recipe | rate | parameters |
|---|---|---|---|
| Theorems 2.1 and 3.1 | `double_output_perturbation` | `double_output_risk` | `extension_clip` (C), `base_ridge` (λ_1) |
| the same with one release | `output_perturbation` | `localised_risk` | `localised_phases` (T), `localised_ridge` (λ_1) |
| Lemma 2.3 | – | `extension_bias` | `extension_clip` (C) |
| Theorems E.1, E.2 | `gradient_mapping` | `gradient_mapping_distance`, `gradient_mapping_risk` | `gradient_mapping_net` (η) |
| Theorem E.5 | `gradient_mapping`, smoothed losses | `smoothed_mapping_risk` | |
| Theorem F.6 | `approximate_exponential` | `approximate_exponential_risk` | |
| Theorems 4.1, G.5, G.6 | – | `risk_lower`, `mean_lower`, `explicit_risk_lower`, `explicit_mean_lower` | `bounded_pair`, `spiked_packing` |
| no algorithm | – | `trivial_risk` | |

Moments. All theorems assume E sup_w ‖∇f(w, z)‖^k ≤ G_k^k: `order` is k ≥ 2, `bound` is G_k, the moment is that of the
norm. D is `diameter`, H is `smoothness`, and δ or ζ of the text, a failure probability, is `failure`.
"""  # noqa: E501 - a table

from tailguard.theory.lowy import exponential, localisation, lower
from tailguard.theory.lowy.exponential import (
    approximate_exponential_risk,
    gradient_mapping_distance,
    gradient_mapping_net,
    gradient_mapping_risk,
    log_largest_ridge,
    smoothed_mapping_risk,
)
from tailguard.theory.lowy.instances import (
    AxisSign,
    bounded_pair,
    linear_excess,
    log_code_size,
    sign_bias,
    spike_probability,
    spiked_packing,
)
from tailguard.theory.lowy.localisation import (
    base_ridge,
    double_output_risk,
    extension_bias,
    extension_clip,
    localised_phases,
    localised_ridge,
    localised_risk,
    trivial_risk,
)
from tailguard.theory.lowy.lower import explicit_mean_lower, explicit_risk_lower, mean_lower, risk_lower

__all__ = [
    "RATES",
    "AxisSign",
    "approximate_exponential_risk",
    "base_ridge",
    "bounded_pair",
    "double_output_risk",
    "explicit_mean_lower",
    "explicit_risk_lower",
    "extension_bias",
    "extension_clip",
    "gradient_mapping_distance",
    "gradient_mapping_net",
    "gradient_mapping_risk",
    "linear_excess",
    "localised_phases",
    "localised_ridge",
    "localised_risk",
    "log_code_size",
    "log_largest_ridge",
    "mean_lower",
    "risk_lower",
    "sign_bias",
    "smoothed_mapping_risk",
    "spike_probability",
    "spiked_packing",
    "trivial_risk",
]

RATES = (*localisation.RATES, *exponential.RATES, *lower.RATES)
