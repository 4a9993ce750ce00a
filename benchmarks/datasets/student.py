import numpy as np

from benchmarks.objective import Dataset, Drawn, Fit


class Student(Dataset):
    """The mean of independent Student-t columns around a far location."""

    task = "mean"

    def __init__(self, freedom: float, n: int, d: int, location: float = 0.0) -> None:
        self.freedom, self.n, self.d, self.location = freedom, n, d, location
        self.name = f"t{freedom:g}" + (f" at {location:g}" if location else "")
        self.tail = f"index {freedom:g}"

    def draw(self, seed: int) -> Drawn:
        rng = np.random.default_rng([seed, self.n, self.d])
        return Drawn(self.location + rng.standard_t(self.freedom, (self.n, self.d)))

    def error(self, fit: Fit) -> float:
        return float(np.linalg.norm(fit.coefficients - self.location))
