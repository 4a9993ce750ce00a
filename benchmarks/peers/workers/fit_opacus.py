"""DP-SGD with Opacus: one linear layer, plain SGD, clipped per record. Runs in Opacus's environment."""

from functools import cache
from importlib.metadata import version

import torch
from opacus import PrivacyEngine
from opacus.accountants.utils import get_noise_multiplier
from wire import serve


class Rows(torch.utils.data.Dataset):
    """Records that are fetched a batch at a time; one by one, fetching would take ten times as long as fitting."""

    def __init__(self, rows, target):
        self.rows, self.target = rows, target

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], self.target[index]

    def __getitems__(self, indices):
        return self.rows[indices], self.target[indices]


@cache
def calibrated(epsilon, delta, rate, steps):
    """Return the noise multiplier that Opacus itself chooses, with its default accountant (PRV)."""
    return get_noise_multiplier(
        target_epsilon=epsilon, target_delta=delta, sample_rate=rate, steps=steps, accountant="prv"
    )


def fit(request, arrays):
    """Fit from zero; `rate` 1 takes all records in each step, less than 1 is Opacus's Poisson sampling."""
    torch.manual_seed(request["seed"])
    steps, rate = request["steps"], request["rate"]
    multiplier = request["multiplier"] or calibrated(request["epsilon"], request["delta"], rate, steps)
    data = Rows(*(torch.tensor(arrays[name], dtype=torch.float32) for name in ("rows", "target")))
    layer = torch.nn.Linear(data.rows.shape[1], 1)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    loader = torch.utils.data.DataLoader(data, batch_size=max(1, round(rate * len(data))), collate_fn=tuple)
    model, optimizer, loader = PrivacyEngine().make_private(
        module=layer,
        optimizer=torch.optim.SGD(layer.parameters(), lr=request["rate_of_learning"]),
        data_loader=loader,
        noise_multiplier=multiplier,
        max_grad_norm=request["clip"],
        poisson_sampling=rate < 1.0,
        noise_generator=torch.Generator().manual_seed(request["seed"]),
    )
    descend(model, optimizer, batches(data, loader, steps, rate), request["logistic"])
    weights = layer.weight.detach().double().numpy()[0]
    used = 1.0 / len(loader) if rate < 1.0 else 1.0
    return {"multiplier": float(multiplier), "rate": used, "intercept": float(layer.bias)}, {"coefficients": weights}


def batches(data, loader, steps, rate):
    """Yield as many batches as there are steps."""
    done = 0
    while done < steps:
        for batch in [(data.rows, data.target)] if rate == 1.0 else loader:
            if done < steps:
                yield batch
            done += 1


def descend(model, optimizer, drawn, logistic):
    """Take one step a batch."""
    loss = torch.nn.BCEWithLogitsLoss() if logistic else torch.nn.MSELoss()
    for rows, target in drawn:
        optimizer.zero_grad()
        loss(model(rows)[:, 0], target).backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    serve(fit, {name: version(name) for name in ("opacus", "torch")})
