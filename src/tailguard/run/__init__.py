"""The trusted kernel: the only place where plan, records and randomness meet."""
