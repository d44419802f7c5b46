"""A run stops at a table that an earlier version built with other columns, and says what to do."""

from __future__ import annotations

import pytest

from tests.python.encoders import canal_json
from tests.python.encoders.changes import INSERT, Place, RowChange, Table
from tests.python.harness.project import Landed, Project

pytestmark = pytest.mark.long

ORDERS = Table("orders", {"id": "long"}, ("id",), "shop")

#: One that is merged, and one that is appended to.
MODELS = ("int_row_state", "int_message_counts")


@pytest.fixture(scope="module")
def failures(project: Project) -> str:
    """What dbt says of a run with tables that have a column which their models lack."""
    land(project, 0)
    project.dbt("run")
    for table in MODELS:
        project.spark.sql(f"alter table intermediate.{table} add column is_old boolean")
    land(project, 1)
    with pytest.raises(AssertionError) as raised:
        project.dbt("run")
    return str(raised.value)


@pytest.mark.parametrize("model", MODELS)
def test_a_table_with_other_columns_stops_its_model(failures: str, model: str) -> None:
    assert f"its table intermediate.{model}: new none, gone is_old" in failures
    assert f"dbt run --full-refresh --select {model}+ --target local" in failures


def land(project: Project, id_: int) -> None:
    change = RowChange(INSERT, ORDERS, Place(id_, 1_760_000_000_000 + id_), None, {"id": id_})
    [message] = canal_json.encode(change)
    project.land("canal_json", [Landed("orders", id_, message.value)])
