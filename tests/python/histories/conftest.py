"""Histories of all modules of this folder go through the same runs, and through a rebuild.

A run costs about the same for one table as for hundreds.  A module lands the messages of its
histories by `land(project, run)`, in tables of their own.
"""

from __future__ import annotations

import json
from importlib import import_module

import pytest
from pyspark.sql import SparkSession

from tests.python.harness.project import Project
from tests.python.histories.marts import LATEST_STATE, RUNS, Stages, read
from tests.python.histories.test_late_halves import KEYS
from tests.python.samples.declarations import with_keys

_MODULES = [
    import_module(f"tests.python.histories.{name}")
    for name in (
        "test_changed_keys",
        "test_deferred_keys",
        "test_key_collisions",
        "test_late_halves",
        "test_late_truncations",
        "test_moved_topics",
        "test_open_transactions",
        "test_partial_images",
        "test_public_shapes",
        "test_statements",
        "test_waiting_inserts",
    )
]


@pytest.fixture(scope="session")
def stages(spark: SparkSession) -> Stages:
    project = Project(spark)
    project.empty()
    settings = json.dumps({"tables": with_keys(KEYS)})
    options = ("--exclude", "models/marts/typed", "--vars", settings)
    after_runs = []
    for run in range(RUNS):
        for module in _MODULES:
            module.land(project, run)
        project.dbt("run", *options)
        is_last = run == RUNS - 1
        after_runs.append(read(project) if is_last else read(project, [LATEST_STATE]))
    project.dbt("run", "--full-refresh", *options)
    return Stages(project, after_runs, read(project))
