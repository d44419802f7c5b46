"""Without Iceberg: plain Parquet tables in Spark's own catalog, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / "plain_tables.py"


@pytest.mark.long
def test_models_are_built_without_iceberg() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS)],
        cwd=TESTS.parents[1],
        env={**os.environ, "SPARK_SESSION_TESTS": "parquet"},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
