"""The outcome of a dbt run, kept as one row of a landing table, which `marts.runs` shows."""

from __future__ import annotations

import ast
import datetime as dt
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from cdc_marts.package_macros import package_macro

if TYPE_CHECKING:
    from dbt.artifacts.schemas.run import RunResult
    from pyspark.sql import SparkSession

#: The statuses of failed nodes.
FAILED_STATUSES: tuple[str, ...] = ast.literal_eval(
    f"({package_macro('sql/failed_statuses.sql', 'failed_statuses')()})"
)

#: People read the messages. Those of Spark's errors may end with a long plan.
_LONGEST_MESSAGE = 2_000


class RunHistoryError(Exception):
    """A run can't be recorded; the message says why and what to do."""


def record(
    session: SparkSession, table: str, run: Mapping[str, Any], results: Iterable[RunResult]
) -> None:
    """Append a run to `table`, in one commit of one small file.

    `run`: the columns that dbt knows when the run begins. `results`: the results of its nodes.
    Raise RunHistoryError if the table has other columns.
    """
    # Exposures have the status `no-op`; they are left out.
    nodes = [_node(result) for result in results if result.status != "no-op"]
    row = {
        **run,
        "outcome": "failed" if any(n["status"] in FAILED_STATUSES for n in nodes) else "succeeded",
        "started_at": _text(run["started_at"]),
        "ended_at": _text(dt.datetime.now(dt.timezone.utc)),
        "versions": {
            "cdc_marts": version("cdc-marts"),
            "dbt": version("dbt-core"),
            "spark": session.version,
        },
        "nodes": nodes,
    }
    schema = session.table(table).schema
    missing = row.keys() - set(schema.names)
    if missing:
        raise RunHistoryError(
            f"{table} lacks the columns {', '.join(sorted(missing))}. Rename or drop it: the next"
            " run creates it again."
        )
    # One JSON literal: the insert needs no Python worker, and one task.
    session.sql(
        f"insert into {table} by name select inline(array(from_json(:row, :schema)))",
        args={"row": json.dumps(row), "schema": schema.simpleString()},
    )


def _node(result: RunResult) -> dict[str, Any]:
    node = result.node
    resource_type = str(node.resource_type)
    return {
        "node_name": node.name,
        "resource_type": resource_type,
        "materialized": getattr(node.config, "materialized", None)
        if resource_type == "model"
        else None,
        "relation_name": getattr(node, "relation_name", None),
        "status": str(result.status),
        "message": (result.message or "")[:_LONGEST_MESSAGE] or None,
        "rows_written": _rows_written(result),
        "failure_count": result.failures,
        "seconds": round(result.execution_time, 3),
    }


def _rows_written(result: RunResult) -> int | None:
    count = result.adapter_response.get("rows_affected")
    return count if isinstance(count, int) else None


def _text(time: dt.datetime) -> str:
    return time.astimezone(dt.timezone.utc).isoformat(timespec="milliseconds")
