"""Scripts that run inside a peer's environment; they import nothing of tailguard."""
