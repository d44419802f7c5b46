"""`datahub_topics` names the databases of topics, and is kept with the rows read by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cdc_marts.formats.datahub_tuple import DIALECTS
from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import INSERT, Place, RowChange, Table
from tests.python.harness.project import Landed, Project

pytestmark = pytest.mark.long

STAGING = ("run", "--select", "stg_datahub_tuple")
REBUILD = "dbt run --full-refresh --select stg_datahub_tuple+ --target local"
ORDERS = Table("orders", {"id": "long", "note": "text"}, ())
MILLIS = 1_760_000_000_000


def settings(topics: Any) -> tuple[str, str]:
    return "--vars", json.dumps({"datahub_topics": topics})


@pytest.fixture(scope="module")
def landed(project: Project) -> Project:
    """Two topics, each with a row of its table `orders`."""
    for number in (1, 2):
        row = {"id": 1, "note": f"of db{number}"}
        change = RowChange(INSERT, ORDERS, Place(number, MILLIS), after=row)
        message = ENCODE["datahub_tuple"](change)[0]
        project.land("datahub_tuple", [Landed(f"proj.db{number}_orders", 0, message.value)])
    project.dbt("run", "--select", "base_datahub_tuple")
    return project


def tables(project: Project) -> dict[str, str]:
    """Topic -> the table of its row."""
    rows = project.rows("select topic, table_id from staging.stg_datahub_tuple")
    return {row["topic"].removeprefix("proj."): row["table_id"] for row in rows}


def test_a_changed_topic_stops_the_run_until_its_rows_are_rebuilt(landed: Project) -> None:
    landed.dbt(*STAGING, "--full-refresh", *settings({}))
    assert tables(landed) == {"db1_orders": "orders", "db2_orders": "orders"}
    one, two = ({f"proj.db{number}_orders": {"database": f"db{number}"}} for number in (1, 2))
    for topics, message, expected in [
        (
            one,
            "proj.db1_orders: not set, now database db1\n",
            {"db1_orders": "db1.orders", "db2_orders": "orders"},
        ),
        (
            one | two,
            "proj.db2_orders: not set, now database db2\n",
            {"db1_orders": "db1.orders", "db2_orders": "db2.orders"},
        ),
        (
            two,
            "proj.db1_orders: database db1, now not set\n",
            {"db1_orders": "orders", "db2_orders": "db2.orders"},
        ),
    ]:
        with pytest.raises(AssertionError) as error:
            landed.dbt(*STAGING, *settings(topics))
        assert message in str(error.value)
        assert REBUILD in str(error.value)

        landed.dbt(*STAGING, "--full-refresh", *settings(topics))
        assert tables(landed) == expected


def test_a_topic_of_which_nothing_was_read_may_change(landed: Project) -> None:
    landed.dbt(*STAGING, "--full-refresh", *settings({}))
    landed.dbt(
        *STAGING, *settings({"proj.new": {"database": "new"}, "it's": {"dialect": "dts_old"}})
    )
    landed.dbt(*STAGING, *settings({"proj.new": {"database": "newer"}}))


def test_every_dialect_may_be_set(landed: Project) -> None:
    landed.dbt(*STAGING, *settings({name: {"dialect": name} for name in DIALECTS}))


def test_a_setting_that_cannot_be_read_stops_the_run(landed: Project) -> None:
    with pytest.raises(AssertionError) as error:
        landed.dbt(*STAGING, *settings({"proj.new": {"databases": "new"}}))
    assert "`vars: datahub_topics`" in str(error.value)
    assert "its settings are `database` and `dialect`" in str(error.value)
