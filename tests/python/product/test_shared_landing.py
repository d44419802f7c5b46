"""Two targets over one landing schema: what one does to landing leaves the other as it is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.python.product.foreign_project import SETTINGS, ForeignProject

LANDING = "shared_landing"
OTHER_LANDING = "other_landing"
SCHEMAS = (
    LANDING,
    OTHER_LANDING,
    "marts",
    *(f"{target}_{layer}" for target in ("dev", "prod") for layer in ("intermediate", "staging")),
)
STAGING = ("run", "--select", "base_canal_json", "stg_canal_json")
RESYNCS = ("run", "--select", "int_resyncs")
WITHOUT = ("--full-refresh", "--vars", "without_removed_messages: true")
IN_OTHER_LANDING = {"landing_schema": OTHER_LANDING}
MESSAGES = 4

pytestmark = pytest.mark.long


@pytest.fixture
def project(
    spark: SparkSession, spark_target: dict[str, Any], tmp_path: Any
) -> Iterator[ForeignProject]:
    settings = copy.deepcopy(SETTINGS)
    settings["vars"] |= {"landing_schema": LANDING, "retention": {"landing": "30 days"}}
    project = ForeignProject.write(tmp_path, spark, spark_target, settings)
    project.dbt("deps")
    spark.sql("drop table if exists marts.latest_state purge")
    yield project
    for schema in SCHEMAS:
        project.drop(schema)


def test_a_second_target_does_not_lose_what_the_first_one_keeps(project: ForeignProject) -> None:
    # Without rows, it is not known to read the landing table.
    project.dbt(*STAGING, "--empty", "--target", "dev")
    remove_messages(project)

    stopped = project.try_dbt(*STAGING, "--target", "dev")
    assert "Give the target dev a landing schema of its own" in said(stopped)
    assert "without_removed_messages" not in said(stopped)
    project.spark.sql("drop table dev_staging.stg_canal_json purge")
    stopped = project.try_dbt(*STAGING, "--target", "dev")
    assert "Give the target dev a landing schema of its own" in said(stopped)
    assert "without_removed_messages" not in said(stopped)
    insisted = project.try_dbt(*STAGING, *WITHOUT, "--target", "dev")
    assert "keep their content: prod_staging.stg_canal_json." in said(insisted)

    project.dbt(*STAGING, "--full-refresh", "--target", "prod")
    assert staged_offsets(project, "prod") == list(range(MESSAGES))

    # Its target is given up.
    project.spark.sql("drop table prod_staging.stg_canal_json purge")
    given_up = project.try_dbt(*STAGING, "--target", "dev")
    assert "--vars 'without_removed_messages: true'" in said(given_up)
    project.dbt(*STAGING, *WITHOUT, "--target", "dev")
    assert staged_offsets(project, "dev") == [MESSAGES - 1]


def test_a_target_that_moves_to_another_landing_keeps_what_its_staging_alone_has(
    project: ForeignProject,
) -> None:
    remove_messages(project)
    moved = (*STAGING, "--full-refresh", "--target", "prod", "--vars")
    stopped = project.try_dbt(*moved, json.dumps(IN_OTHER_LANDING))
    assert "was built from shared_landing.canal_json" in said(stopped)
    assert "removed older messages from shared_landing.canal_json" in said(stopped)
    assert "Set `landing_schema` to shared_landing again" in said(stopped)
    assert staged_offsets(project, "prod") == list(range(MESSAGES))

    # A landing table that is renamed has the same messages, and they are still listed.
    for table in ("canal_json", "removed_messages"):
        project.spark.sql(f"drop table {OTHER_LANDING}.{table} purge")
        project.spark.sql(f"alter table {LANDING}.{table} rename to {OTHER_LANDING}.{table}")
    project.dbt(*moved, json.dumps(IN_OTHER_LANDING))
    assert staged_offsets(project, "prod") == list(range(MESSAGES))

    project.spark.sql(f"drop table {OTHER_LANDING}.canal_json purge")
    # It is not known any more what the former landing table had.
    stopped = project.try_dbt(*moved, json.dumps({"landing_schema": LANDING}))
    assert "removed older messages from other_landing.canal_json, or may have" in said(stopped)
    given_up = {"landing_schema": LANDING, "without_removed_messages": True}
    project.dbt(*moved, json.dumps(given_up))
    assert staged_offsets(project, "prod") == []


def test_a_target_with_its_own_landing_can_not_move_to_one_that_lost_messages(
    project: ForeignProject,
) -> None:
    own = (*STAGING, "--target", "dev", "--vars", json.dumps(IN_OTHER_LANDING))
    project.dbt(*own)
    land_old_messages(project, OTHER_LANDING)
    project.dbt(*own)
    remove_messages(project)
    stopped = project.try_dbt(*STAGING, "--full-refresh", "--target", "dev")
    assert "Give the target dev a landing schema of its own" in said(stopped)
    project.spark.sql("drop table prod_staging.stg_canal_json purge")
    stopped = project.try_dbt(*STAGING, "--full-refresh", "--target", "dev")
    assert "Set `landing_schema` to other_landing again" in said(stopped)
    assert staged_offsets(project, "dev") == list(range(MESSAGES))


def test_a_target_reads_requests_for_resyncs_after_the_other_one_was_maintained(
    project: ForeignProject,
) -> None:
    for target in ("dev", "prod"):
        project.dbt("run", "--select", "+int_resyncs", "--target", target)
    request_resync(project, 1)
    for target in ("dev", "prod"):
        project.dbt(*RESYNCS, "--target", target)
    for number in (2, 3):
        request_resync(project, number)
        project.dbt(*RESYNCS, "--target", "prod")
    maintain(project, "prod", "--keep-days", "0")

    project.dbt(*RESYNCS, "--target", "dev")

    read = project.rows("select resync_number from dev_intermediate.int_resyncs order by 1")
    assert [row["resync_number"] for row in read] == [1, 2, 3]


def remove_messages(project: ForeignProject) -> None:
    """Land messages, read them on one target, and remove all but the newest from landing."""
    project.dbt(*STAGING, "--target", "prod")
    land_old_messages(project)
    project.dbt(*STAGING, "--target", "prod")
    maintain(project, "prod", "--yes")
    assert landed_offsets(project) == [MESSAGES - 1]


def land_old_messages(project: ForeignProject, landing: str = LANDING) -> None:
    """Land one insert per message, in one topic."""
    for offset in range(MESSAGES):
        message = {
            "database": "shop",
            "table": "orders",
            "type": "INSERT",
            "isDdl": False,
            "pkNames": ["id"],
            "es": 1760000000000 + offset,
            "ts": 1760000001000,
            "id": 1,
            "sql": "",
            "old": None,
            "mysqlType": {"id": "bigint"},
            "sqlType": {"id": -5},
            "data": [{"id": str(offset)}],
        }
        project.spark.sql(
            f"insert into {landing}.canal_json values ('shop', 0, :offset, null, null,"
            " cast(:value as binary), timestamp '2026-01-01')",
            args={"offset": offset, "value": json.dumps(message)},
        )


def request_resync(project: ForeignProject, number: int) -> None:
    project.spark.sql(
        f"insert into {LANDING}.resyncs values ('canal_json', 'shop.orders', {number}, 'load',"
        f" timestamp '2026-01-0{number}', 1, current_timestamp())"
    )


def maintain(project: ForeignProject, target: str, *options: str) -> None:
    maintained = project.command(target, "maintain", *options)
    assert maintained.exit_code == 0, maintained.output


def landed_offsets(project: ForeignProject) -> list[int]:
    return [row["offset"] for row in project.rows(f"select offset from {LANDING}.canal_json")]


def staged_offsets(project: ForeignProject, target: str) -> list[int]:
    rows = project.rows(f"select offset from {target}_staging.stg_canal_json order by offset")
    return [row["offset"] for row in rows]


def said(ended: Any) -> str:
    assert not ended.success
    return " ".join(str(one.message) for one in ended.result.results)
