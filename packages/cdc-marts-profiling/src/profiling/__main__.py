"""`python -m profiling`."""

from profiling.cli import app

app(prog_name="python -m profiling")
