"""Data sets, one class a file; `development.py` and `held_out.py` list the tasks of a run."""
