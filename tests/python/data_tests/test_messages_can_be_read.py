"""Rejects are new if their messages landed since the last run of the target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.python.data_tests.small_project import run_data_tests

#: Targets may share a landing schema, and with it the history of the runs.
RUNS = """
    select * from values
        ('run', 'local', timestamp'2026-01-01 10:00:00'),
        ('run', 'local', timestamp'2026-01-01 12:00:00'),
        ('run', 'other', timestamp'2026-01-01 18:00:00')
        as runs (command, target_name, started_at)
"""
REJECTS = """
    select 'canal_json' as source_format, 'shop' as topic, 'not_utf8' as reject_code,
        timestamp'2026-01-01 11:00:00' as landed_at
"""


def test_runs_of_other_targets_do_not_count(
    spark: SparkSession, spark_target: dict[str, Any], tmp_path: Path
) -> None:
    config = {"store_failures": True, "schema": "proofs", "alias": "new_rejects"}
    arguments = {"runs": "ref('runs')", "accepted": {}}
    test = {"messages_can_be_read": {"name": "read", "arguments": arguments, "config": config}}
    models = {"rejects": REJECTS, "runs": RUNS}
    tested = [{"name": "rejects", "data_tests": [test]}]
    [result] = run_data_tests(tmp_path, spark_target, models, tested)
    assert result.status == "warn"
    [row] = spark.table("proofs.new_rejects").collect()
    assert (row["message_count"], row["new_message_count"]) == (1, 1)
