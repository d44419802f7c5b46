"""With a check that waits for the end of a transaction, a row comes to a key before another leaves.

Only the images distinguish such a pair from a row that was inserted and deleted.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.python.encoders import dts_avro as dts
from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import Stages

pytestmark = pytest.mark.thorough

OLD, NEW = {"id": 1, "v": "a"}, {"id": 1, "v": "b"}
REPLACED, SAME = "deferred.replaced", "deferred.same"


def land(project: Project, run: int) -> None:
    """The older row in the first run, the transaction in the second."""
    if run == 0:
        messages = [change(1, "INSERT", table, after=OLD) for table in (REPLACED, SAME)]
    elif run == 1:
        messages = [
            change(2, "INSERT", REPLACED, after=NEW),
            change(2, "DELETE", REPLACED, before=OLD),
            change(2, "DELETE", SAME, before=OLD),
            change(2, "INSERT", SAME, after=NEW),
            change(2, "DELETE", SAME, before=NEW),
        ]
    else:
        return
    project.land(
        "dts_avro",
        [Landed("deferred", 10 * run + n, dts.encode(m)) for n, m in enumerate(messages)],
    )


def change(transaction: int, op: str, table: str, **images: Any) -> dict[str, Any]:
    second = 1_700_000_000 + transaction
    return dts.row(
        op,
        table,
        key=["id"],
        **images,
        id=transaction,
        sourceTimestamp=second,
        sourceTxid=f"tx{transaction}",
        sourceType="PostgreSQL",
    )


def test_a_data_test_names_the_table_that_lacks_the_row(stages: Stages) -> None:
    assert stages.last.state("dts_avro", REPLACED) == []
    assert stages.last.state("dts_avro", SAME) == []
    [found] = stages.project.found_by(["deletes_take_the_inserted_row"]).values()
    named = [
        (row["table_id"], row["row_key"], row["transaction_key"])
        for row in found
        if row["table_id"].startswith("deferred.")
    ]
    assert named == [(REPLACED, '{"id":1}', "tx2")]
