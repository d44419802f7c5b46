"""A key that is set differently after its table's messages were read stops the run."""

from __future__ import annotations

import json

import pytest

from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import INSERT, Place, RowChange, Table
from tests.python.harness.project import Landed, Project
from tests.python.samples.declarations import with_keys

pytestmark = pytest.mark.long

STAGING = ("run", "--select", "stg_lindorm_debezium")
REBUILD = "dbt run --full-refresh --select stg_lindorm_debezium+ --target local"
LINES = Table("lines", {"invoice": "long", "number": "long"}, (), "shop", "keys")
TABLE_ID = "shop.keys.lines"


def settings(**lindorm: list[str]) -> tuple[str, str]:
    """Arguments of dbt that declare these keys, table name -> columns."""
    keys = {f"shop.keys.{name}": columns for name, columns in lindorm.items()}
    return "--vars", json.dumps({"tables": with_keys({"lindorm_debezium": keys})})


@pytest.fixture(scope="module")
def landed(project: Project) -> Project:
    change = RowChange(
        INSERT, LINES, Place(1, 1_760_000_000_000), after={"invoice": 1, "number": 2}
    )
    message = ENCODE["lindorm_debezium"](change, with_schema=False)[0]
    project.land("lindorm_debezium", [Landed("keys", 1, message.value)])
    project.dbt("run", "--select", "base_lindorm_debezium")
    return project


def test_a_changed_key_stops_the_run_until_its_rows_are_rebuilt(landed: Project) -> None:
    landed.dbt(*STAGING, "--full-refresh", *settings())
    for now, message in [
        ({"lines": ["invoice"]}, "no key, now invoice"),
        ({"lines": ["invoice", "number"]}, "invoice, now invoice, number"),
        ({}, "invoice, number, now no key"),
    ]:
        with pytest.raises(AssertionError) as error:
            landed.dbt(*STAGING, *settings(**now))
        assert f"{TABLE_ID}: {message}\n" in str(error.value)
        assert REBUILD in str(error.value)

        landed.dbt(*STAGING, "--full-refresh", *settings(**now))
        assert landed.rows(
            f"select key_columns from staging.stg_lindorm_debezium where table_id = '{TABLE_ID}'"
        ) == [{"key_columns": now.get("lines", [])}]


def test_a_key_of_a_table_without_rows_may_change(landed: Project) -> None:
    landed.dbt(*STAGING, "--full-refresh", *settings(lines=["invoice"]))
    landed.dbt(*STAGING, *settings(lines=["invoice"], others=["id"], **{"it's": ["id"]}))
    landed.dbt(*STAGING, *settings(lines=["invoice"], others=["number"]))
    with pytest.raises(AssertionError, match="invoice, now number"):
        landed.dbt(*STAGING, *settings(lines=["number"], others=["number"]))
