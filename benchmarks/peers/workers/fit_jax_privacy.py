"""DP-SGD with jax-privacy: clipped gradients, Gaussian privatiser, Poisson batches. Runs in its environment."""

import os
from functools import cache
from importlib.metadata import version

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import jax_privacy
import numpy as np
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig
from wire import serve


@cache
def calibrated(epsilon, delta, rate, steps):
    """Return the noise multiplier that the library itself chooses, with its default accountant and relation."""
    options = {"iterations": steps, "strategy": np.ones(1), "epsilon": epsilon, "delta": delta, "sampling_prob": rate}
    event = BandMFExecutionPlanConfig(**options).plan.dp_event
    while not hasattr(event, "noise_multiplier"):  # repeated, sampled, Gaussian
        event = event.event
    return float(event.noise_multiplier)


def squared(weights, rows, target):
    return jnp.mean((rows @ weights["slopes"] + weights["constant"] - target) ** 2)


def logistic(weights, rows, target):
    score = rows @ weights["slopes"] + weights["constant"]
    return jnp.mean(jnp.logaddexp(0.0, score) - target * score)


@cache
def stepper(loss):
    """Return a compiled step; clip norm, noise and step size are arguments, so that one compilation serves them all."""

    def step(weights, state, rows, target, padding, clip, deviation, size):
        gradient = jax_privacy.clipped_grad(loss, l2_clip_norm=clip, batch_argnums=(1, 2))
        total = gradient(weights, rows, target, is_padding_example=padding)
        privatizer = jax_privacy.noise_addition.gaussian_privatizer(stddev=deviation, prng_key=0)
        noisy, state = privatizer.update(total, state)
        return jax.tree.map(lambda w, g: w - size * g, weights, noisy), state

    return jax.jit(step)


def fit(request, arrays):
    """Fit from zero; `rate` 1 takes all records in each step, less than 1 is Poisson sampling."""
    steps, rate, clip = request["steps"], request["rate"], request["clip"]
    multiplier = request["multiplier"] or calibrated(request["epsilon"], request["delta"], rate, steps)
    rows, target = (arrays[name].astype(np.float32) for name in ("rows", "target"))
    weights = {"slopes": jnp.zeros(rows.shape[1]), "constant": jnp.zeros(())}
    deviation = multiplier * clip
    state = jax_privacy.noise_addition.gaussian_privatizer(stddev=deviation, prng_key=request["seed"]).init(weights)
    step = stepper(logistic if request["logistic"] else squared)
    size = request["rate_of_learning"] / (rate * len(rows))
    for chosen in batches(len(rows), steps, rate, request["seed"]):
        padding = chosen < 0
        weights, state = step(weights, state, rows[chosen], target[chosen], padding, clip, deviation, size)
    slopes = np.asarray(weights["slopes"], dtype=float)
    return {
        "multiplier": multiplier,
        "rate": rate,
        "intercept": float(weights["constant"]),
    }, {"coefficients": slopes}


def batches(records, steps, rate, seed):
    """Yield the indices of each step's records, padded by −1 to few different lengths (each is compiled anew)."""
    if rate == 1.0:
        return [np.arange(records)] * steps
    sampling = jax_privacy.batch_selection.CyclicPoissonSampling(
        sampling_prob=rate, iterations=steps, partition_type=jax_privacy.batch_selection.PartitionType.INDEPENDENT
    )
    multiple = max(64, int(8 * np.sqrt(rate * records)))
    drawn = sampling.batch_iterator(records, rng=seed)
    return (jax_privacy.batch_selection.pad_to_multiple_of(chosen, multiple) for chosen in drawn)


if __name__ == "__main__":
    serve(fit, {name: version(name) for name in ("jax-privacy", "jax")})
