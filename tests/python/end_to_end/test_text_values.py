"""A job of a user may land messages as text instead of bytes."""

from __future__ import annotations

import pytest

from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import INSERT, Place, RowChange, Table
from tests.python.harness.project import LANDED_AT, Project

pytestmark = pytest.mark.thorough

TABLE = Table("orders", {"id": "long", "note": "text"}, ("id",))
NOT_JSON = "不是 JSON"


def test_messages_may_be_text_in_the_landing_table(project: Project) -> None:
    insert = RowChange(INSERT, TABLE, Place(1, 1_640_995_200_000), after={"id": 1, "note": "李雷"})
    whole = ENCODE["canal_json"](insert)[0].value
    assert whole is not None
    project.spark.sql("alter table landing.canal_json drop column value")
    project.spark.sql("alter table landing.canal_json add column value string")
    columns = project.spark.table("landing.canal_json").schema
    project.spark.createDataFrame(
        [
            ("shop", 0, offset, LANDED_AT, None, LANDED_AT, value)
            for offset, value in enumerate([whole.decode(), NOT_JSON, None])
        ],
        columns,
    ).writeTo("landing.canal_json").append()

    project.dbt("run", "--select", "+latest_state +quarantined_messages +message_ledger")

    assert [row["row"]["note"] for row in project.latest_state("canal_json", "shop.orders")] == [
        "李雷"
    ]
    assert project.rows(
        "select value, value_text, reject_code from marts.quarantined_messages"
    ) == [
        {
            "value": bytearray(NOT_JSON.encode()),
            "value_text": NOT_JSON,
            "reject_code": "malformed_json",
        }
    ]
    assert project.rows("select landed, change, tombstone, rejected from marts.message_ledger") == [
        {"landed": 3, "change": 1, "tombstone": 1, "rejected": 1}
    ]
