"""Benchmarks of speed and accuracy."""
