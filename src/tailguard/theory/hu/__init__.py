"""Hu et al. 2022: its theorems as functions of a `Setting`.

Hu, Ni, Xiao and Wang, "High Dimensional Differentially Private Stochastic Optimization with Heavy-tailed Data".

| statement | recipe | rate | parameters |
|---|---|---|---|
| Lemma 4 | – | `catoni_mean`, `sharp_catoni_mean` | `catoni_scale` (s) |
| Theorem 2, Corollary 1 | `frank_wolfe` | `frank_wolfe_risk`, `lasso_corollary_risk` | `frank_wolfe_steps` (T), `frank_wolfe_scale` (s), `frank_wolfe_step` (η_t) |
| Theorem 3 | `frank_wolfe`, biweight loss | `robust_risk` | `robust_steps` (T), `robust_scale` (s), `robust_step` (η) |
| Theorem 5 | `shrunken_lasso` | `shrunken_lasso_risk` | `shrunken_lasso_steps` (T), `shrunken_lasso_threshold` (K), `frank_wolfe_step` (η_t) |
| Theorem 7 | `shrunken_thresholding` | `shrunken_thresholding_risk`, `repaired_thresholding_risk` | `kept` (s), `thresholding_steps` (T), `thresholding_step` (η), `shrunken_thresholding_threshold` or `repaired_thresholding_threshold` (K) |
| Theorem 8 | `catoni_thresholding` | `catoni_thresholding_risk` | `kept` (s), `thresholding_steps` (T), `thresholding_step` (η), `catoni_thresholding_scale` (k) |
| Theorem 9 | – | `sparse_mean_lower`, `sharp_sparse_mean_lower`, `explicit_sparse_mean_lower` | `sparse_packing`, `sparse_probability`, `log_code_size`, `error_probability` |

The recipe `truncated_thresholding` is Theorem 10 of Tao et al. 2022: `tao.sparse_risk` and `tao.sparse_threshold`, with
the same `kept`, `thresholding_steps` and `thresholding_step`.

Moments. Theorems 2, 3, 8 and 9 assume second moments of the gradient's coordinates, τ = M² in the paper's letters:
`order` is 2 (or more). Theorems 5 and 7 assume fourth moments of the data's coordinates x_j and of y, M⁴ here and M in
the paper: `order` is 4 (or more). ζ is `failure`, ‖W‖₁ is `diameter`, α and γ are `smoothness`, μ is `convexity`. The
squared loss is (⟨x, w⟩ − y)²/2; the paper's, without the 1/2, has twice the gradient.
"""  # noqa: E501 - a table

from tailguard.theory.hu import catoni, frank_wolfe, lasso, lower, thresholding
from tailguard.theory.hu.catoni import catoni_mean, catoni_scale, sharp_catoni_mean
from tailguard.theory.hu.frank_wolfe import (
    frank_wolfe_risk,
    frank_wolfe_scale,
    frank_wolfe_step,
    frank_wolfe_steps,
    lasso_corollary_risk,
    robust_risk,
    robust_scale,
    robust_step,
    robust_steps,
)
from tailguard.theory.hu.lasso import shrunken_lasso_risk, shrunken_lasso_steps, shrunken_lasso_threshold
from tailguard.theory.hu.lower import (
    error_probability,
    explicit_sparse_mean_lower,
    log_code_size,
    sharp_sparse_mean_lower,
    sparse_mean_lower,
    sparse_packing,
    sparse_probability,
)
from tailguard.theory.hu.thresholding import (
    catoni_thresholding_risk,
    catoni_thresholding_scale,
    kept,
    repaired_thresholding_risk,
    repaired_thresholding_threshold,
    shrunken_thresholding_risk,
    shrunken_thresholding_threshold,
    thresholding_step,
    thresholding_steps,
)

__all__ = [
    "RATES",
    "catoni_mean",
    "catoni_scale",
    "catoni_thresholding_risk",
    "catoni_thresholding_scale",
    "error_probability",
    "explicit_sparse_mean_lower",
    "frank_wolfe_risk",
    "frank_wolfe_scale",
    "frank_wolfe_step",
    "frank_wolfe_steps",
    "kept",
    "lasso_corollary_risk",
    "log_code_size",
    "repaired_thresholding_risk",
    "repaired_thresholding_threshold",
    "robust_risk",
    "robust_scale",
    "robust_step",
    "robust_steps",
    "sharp_catoni_mean",
    "sharp_sparse_mean_lower",
    "shrunken_lasso_risk",
    "shrunken_lasso_steps",
    "shrunken_lasso_threshold",
    "shrunken_thresholding_risk",
    "shrunken_thresholding_threshold",
    "sparse_mean_lower",
    "sparse_packing",
    "sparse_probability",
    "thresholding_step",
    "thresholding_steps",
]

RATES = (*catoni.RATES, *frank_wolfe.RATES, *lasso.RATES, *thresholding.RATES, *lower.RATES)
