"""Writes the seeds: `uv run python -m tests.python.samples`."""

from tests.python.samples.files import write

write()
