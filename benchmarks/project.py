"""The project as a user runs it, on landed messages in the benchmark's own home."""

from __future__ import annotations

import datetime as dt
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import yaml
from dbt.adapters.spark_session.api import tables_of
from pyspark.sql import SparkSession

from benchmarks.baselines import job
from benchmarks.measure import Cost, measured, written_bytes
from benchmarks.workload import DATABASE, Workload
from cdc_marts import project
from cdc_marts.landing.tables import create_landing_table
from cdc_marts.project.dbt_commands import failures_of, invoke_dbt, results_of
from cdc_marts.project.target import Target
from cdc_marts.relations import OWN
from cdc_marts.source_formats import SOURCE_FORMATS

LANDING = ("landing",)
BUILT = ("staging", "intermediate", "marts")
_ROOT = Path(__file__).parents[1]


class BenchmarkError(Exception):
    """The benchmark can't go on, or its results would mean nothing; the message says why."""


@contextmanager
def opened(home: Path | None, driver_memory: str) -> Iterator[SparkSession]:
    """Yield a session of the target `local` in `home`, or in a folder that is removed after."""
    folder = tempfile.TemporaryDirectory() if home is None else nullcontext(str(home))
    with folder as name:
        os.environ["CDC_MARTS_HOME"] = name
        os.environ["CDC_MARTS_DRIVER_MEMORY"] = driver_memory
        os.environ["DBT_TARGET_PATH"] = str(Path(name) / "target")
        os.environ["DBT_LOG_PATH"] = str(Path(name) / "logs")
        with project.spark_session(_target()) as session:
            yield session


def empty(session: SparkSession) -> None:
    """Drop all tables and views, and create the landing tables again."""
    _drop(session, (*LANDING, *BUILT, job.NAMESPACE))
    for source_format in SOURCE_FORMATS:
        create_landing_table(session, OWN.landed(source_format))
    session.sql(f"create namespace if not exists {job.NAMESPACE}")


def unbuild(session: SparkSession) -> None:
    """Drop everything that was built, but not what was landed."""
    _drop(session, (*BUILT, job.NAMESPACE))


def run_models(session: SparkSession, workload: Workload, *arguments: str) -> Cost:
    """Run `dbt run`, and return its cost.

    Seconds count from the first model's start to the last's end.
    """
    written = written_bytes(session, BUILT)
    with measured(session) as cost:
        started = time.perf_counter()
        results = dbt_run(workload, arguments)
        whole = time.perf_counter() - started
        cost.seconds = seconds_of(results)
        cost.dbt_seconds = whole - cost.seconds
        cost.models = {result.node.name: result.execution_time for result in results}
    cost.written_bytes = written_bytes(session, BUILT) - written
    return cost


def dbt_run(workload: Workload, arguments: Sequence[str]) -> list[Any]:
    """Return the results of the models, from dbt."""
    variables = json.dumps({"tables": declared_tables(workload)})
    command = ["run", *arguments, "--quiet", "--vars", variables]
    result = invoke_dbt(command, _target())
    if not result.success:
        reasons = [f"{node}: {message}" for node, message in failures_of(result).items()]
        raise BenchmarkError("\n".join(["dbt failed", *reasons, str(result.exception or "")]))
    return [one for one in results_of(result) if one.timing]


def seconds_of(results: Sequence[Any]) -> float:
    """Return the seconds from the first model's start to the last one's end."""
    moments = [moment for result in results for timing in result.timing for moment in _span(timing)]
    return float((max(moments) - min(moments)).total_seconds())


def _span(timing: Any) -> tuple[dt.datetime, dt.datetime]:
    return timing.started_at, timing.completed_at


def declared_tables(workload: Workload) -> dict[str, Any]:
    """Return the project's declarations, and the keys of tables whose messages name none."""
    declared = yaml.safe_load((_ROOT / "dbt_project.yml").read_text("utf-8"))["vars"]["tables"]
    keys = {
        f"benchmark_{name}": {
            "source_format": "datahub_tuple",
            "table_id": f"{DATABASE}.{name}",
            "key": ["id"],
        }
        for name in workload.table_names
    }
    return {**declared, **keys}


def _target() -> Target:
    return Target.find("local", _ROOT)


def _drop(session: SparkSession, namespaces: tuple[str, ...]) -> None:
    for namespace in namespaces:
        if not session.catalog.databaseExists(namespace):
            continue
        for view in session.sql(f"show views in {namespace}").where("not isTemporary").collect():
            session.sql(f"drop view {namespace}.{view['viewName']}")
    for table in tables_of(session, namespaces):
        session.sql(f"drop table {table} purge")
