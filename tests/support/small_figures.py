"""A grid so small that a whole figure takes a second."""

from tailguard.reproduction.figures import Grid

TINY = Grid(n=(600, 1200), d=(6, 12), sparsity=(2, 3), epsilon=(1.0, 4.0))
