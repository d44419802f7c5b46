"""Executors as on a cluster whose workers have no Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import SparkSession

#: A path that does not exist.
NO_PYTHON = "/nonexistent/python"


@contextmanager
def without_python(spark: SparkSession) -> Iterator[None]:
    """Fail each job that needs Python on executors while the block runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark.sparkContext, "pythonExec", NO_PYTHON)
        yield
