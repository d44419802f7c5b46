"""Two rows may hold one key within a transaction; which of them leaves is read from the images."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.python.encoders import dts_avro
from tests.python.encoders.dts_avro import NONE
from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import LATEST_STATE, ROW_HISTORY, Stages

pytestmark = pytest.mark.thorough

Message = Mapping[str, Any]

WEEKS_LATER = 1_711_000_000


@dataclass(frozen=True)
class Case:
    """Messages of one table by partition, in the order of their offsets, and its rows at last."""

    source_format: str
    table: str
    partitions: Sequence[Sequence[Message]]
    rows: Sequence[Mapping[str, Any]]


def streamx(
    sequence_id: int,
    op: str,
    before: Message | None = None,
    after: Message | None = None,
    key: str = "id",
) -> Message:
    """A StreamX message of one `eventTime`; the full load has the sequence id -1 and no time."""
    time = -1 if sequence_id == -1 else 1_709_280_000_000
    return {
        "schema": {
            "dataColumn": [{"name": "id", "type": "LONG"}, {"name": "name", "type": "STRING"}],
            "primaryKey": [key],
            "source": {"dbType": "PostgreSQL", "dbName": "shop", "tableName": "TABLE"},
        },
        "payload": {
            "before": {"dataColumn": before} if before else None,
            "after": {"dataColumn": after} if after else None,
            "sequenceId": str(sequence_id),
            "op": op,
            "timestamp": {"eventTime": time, "systemTime": time, "checkpointTime": time},
        },
    }


def canal(op: str, ts: int, row: Message, old: Message | None = None) -> Message:
    return {
        "database": "shop",
        "table": "TABLE",
        "type": op,
        "es": 1_709_280_000_000,
        "ts": 1_709_280_000_000 + ts,
        "isDdl": False,
        "pkNames": ["id"],
        "mysqlType": dict.fromkeys(row, "varchar(20)"),
        "data": [row],
        "old": None if old is None else [old],
    }


def debezium(op: str, lsn: int, transaction: int, row: Message) -> Message | None:
    """A message of CDL's Debezium JSON; of a deleted row it knows the key alone."""
    return {
        "before": {"id": row["id"], "name": None} if op == "d" else None,
        "after": None if op == "d" else row,
        "source": {
            "connector": "postgresql",
            "ts_ms": 1_709_280_000_000,
            "snapshot": "false",
            "db": "shop",
            "schema": "public",
            "table": "TABLE",
            "txId": transaction,
            "lsn": lsn,
        },
        "op": op,
        "ts_ms": 1_709_280_000_500,
        "message_version": "2.0",
        "message_type": "0",
        "unique": {"id": str(row["id"])},
    }


def dts(
    op: str, id_: int, transaction: str, seconds: int = 1_709_280_000, **images: Message
) -> Message:
    """A record for DTS Avro."""
    return dts_avro.row(
        op,
        "shop.TABLE",
        key=["id"],
        id=id_,
        sourceTimestamp=seconds,
        sourcePosition=str(id_),
        sourceTxid=transaction,
        **images,
    )


def row(id_: Any, name: str) -> dict[str, Any]:
    return {"id": id_, "name": name}


def moved(sequence_id: int, before: Message, after: Message) -> Message:
    return streamx(sequence_id, "UPDATE_AFTER", before, after)


CASES = {
    "a row of the full load and the row that came to its key are one": Case(
        "dataworks_json",
        "overlapping_load",
        [
            [
                streamx(-1, "INSERT", after=row(2, "a")),
                moved(100, row(1, "a"), row(2, "a")),
                moved(101, row(2, "a"), row(3, "a")),
            ]
        ],
        [row(3, "a")],
    ),
    "rows of the full load swap their keys": Case(
        "dataworks_json",
        "swap_after_load",
        [
            [
                streamx(-1, "INSERT", after=row(1, "a")),
                streamx(-1, "INSERT", after=row(2, "b")),
                moved(100, row(1, "a"), row(2, "a")),
                moved(101, row(2, "b"), row(1, "b")),
            ]
        ],
        [row(1, "b"), row(2, "a")],
    ),
    "equal rows of the full load swap their keys": Case(
        "dataworks_json",
        "equal_swap_after_load",
        [
            [
                streamx(-1, "INSERT", after=row(1, "a")),
                streamx(-1, "INSERT", after=row(2, "a")),
                moved(100, row(1, "a"), row(2, "a")),
                moved(101, row(2, "a"), row(1, "a")),
            ]
        ],
        [row(1, "a"), row(2, "a")],
    ),
    "rows move up by one, and the full load read them after that": Case(
        "dataworks_json",
        "moved_up_before_load",
        [
            [
                streamx(-1, "INSERT", after=row(2, "a")),
                streamx(-1, "INSERT", after=row(3, "b")),
                moved(100, row(1, "a"), row(2, "a")),
                moved(101, row(2, "b"), row(3, "b")),
            ]
        ],
        [row(2, "a"), row(3, "b")],
    ),
    "rows move up by one, and the row that leaves has never landed": Case(
        "dataworks_json",
        "moved_up_without_load",
        [
            [
                streamx(-1, "INSERT", after=row(1, "a")),
                moved(100, row(1, "a"), row(2, "a")),
                moved(101, row(2, "b"), row(3, "b")),
            ]
        ],
        [row(2, "a"), row(3, "b")],
    ),
    "equal rows move up by one": Case(
        "dataworks_json",
        "equal_rows",
        [
            [
                streamx(90, "INSERT", after=row(1, "a")),
                streamx(91, "INSERT", after=row(2, "a")),
                moved(100, row(1, "a"), row(2, "a")),
                moved(101, row(2, "a"), row(3, "a")),
            ]
        ],
        [row(2, "a"), row(3, "a")],
    ),
    "the row that came last leaves, and the older one stays": Case(
        "dataworks_json",
        "passing_row",
        [
            [
                streamx(90, "INSERT", after=row(1, "a")),
                streamx(91, "INSERT", after=row(2, "b")),
                moved(100, row(1, "a"), row(2, "a")),
                moved(101, row(2, "a"), row(3, "a")),
            ]
        ],
        [row(2, "b"), row(3, "a")],
    ),
    "the row that stays keeps its values, whatever row came and left since": Case(
        "dataworks_json",
        "partial_behind_a_passing_row",
        [
            [
                streamx(90, "INSERT", after=row(1, "a")),
                streamx(91, "INSERT", after=row(2, "b")),
                moved(100, row(1, "a"), row(2, "a")),
                moved(101, row(2, "a"), row(3, "a")),
                streamx(200, "UPDATE_AFTER", after={"id": 2}),
            ]
        ],
        [row(2, "b"), row(3, "a")],
    ),
    "the row that leaves keeps its values, although the newer one was written twice": Case(
        "dts_avro",
        "partial_key_change_behind_two_writes",
        [
            [
                dts("INSERT", 1, "a", after=row(1, "a")),
                dts("INSERT", 2, "a", after=row(2, "b")),
                dts("UPDATE", 3, "b", before=row(1, "a"), after=row(2, "a")),
                dts("UPDATE", 4, "b", before=row(2, "a"), after=row(2, "c")),
                dts("UPDATE", 5, "b", before=row(2, "b"), after={"id": 1}),
            ]
        ],
        [row(1, "b"), row(2, "c")],
    ),
    **{
        f"the older row changes beside the newer one before it leaves{name}": Case(
            "dts_avro",
            f"{table}_beside_a_newer_one",
            [
                [
                    dts("INSERT", 1, "a", after={**row(1, "a"), "note": "n"}),
                    dts("INSERT", 2, "a", after={**row(2, "b"), "note": "m"}),
                    dts(
                        *("UPDATE", 3, "b"),
                        before={**row(1, "a"), "note": "n"},
                        after={**row(2, "a"), "note": "n"},
                    ),
                    dts(
                        *("UPDATE", 4, "b"),
                        before={**row(2, "b"), "note": "m"},
                        after={**row(2, "c"), **changed},
                    ),
                    dts(
                        *("UPDATE", 5, "b"),
                        before={**row(2, "c"), "note": "m"},
                        after={**row(1, "c"), **changed},
                    ),
                ]
            ],
            [{**row(1, "c"), "note": "m"}, {**row(2, "a"), "note": "n"}],
        )
        for name, table, changed in (
            ("", "changed", {"note": "m"}),
            (", without its note", "partly_changed", {}),
        )
    },
    "swapped rows keep their values, although the swap is reported twice": Case(
        "dts_avro",
        "partial_swap_reported_twice",
        [
            [
                dts("INSERT", 1, "a", after={**row(1, "a"), "note": "n"}),
                dts("INSERT", 2, "a", after={**row(2, "b"), "note": "m"}),
                *(
                    dts(
                        *("UPDATE", first + step, "b"),
                        before={**row(old, name), "note": NONE},
                        after={**row(new, name), "note": NONE},
                    )
                    for first in (3, 1003)
                    for step, (old, new, name) in enumerate([(1, 2, "a"), (2, 1, "b")])
                ),
            ]
        ],
        [{**row(1, "b"), "note": "m"}, {**row(2, "a"), "note": "n"}],
    ),
    "a key change that Canal sends twice is one key change": Case(
        "canal_json",
        "sent_twice",
        [
            [
                canal("INSERT", 0, row("1", "a")),
                canal("UPDATE", 5, row("2", "a"), {"id": "1"}),
                canal("UPDATE", 5, row("2", "a"), {"id": "1"}),
                canal("UPDATE", 6, row("3", "a"), {"id": "2"}),
            ]
        ],
        [row("3", "a")],
    ),
    "images order what one write time in two partitions leaves open": Case(
        "canal_json",
        "equal_write_times",
        [
            [canal("UPDATE", 2000, row("2", "b"), {"id": "1"})],
            [
                canal("INSERT", 1000, row("1", "a")),
                canal("UPDATE", 2000, row("1", "b"), {"name": "a"}),
            ],
        ],
        [row("2", "b")],
    ),
    "an update without a difference, at the write time of the key change behind it": Case(
        "canal_json",
        "updated_without_difference",
        [
            [canal("UPDATE", 2000, row("2", "a"), {"id": "1"})],
            [
                canal("INSERT", 1000, row("1", "a")),
                canal("UPDATE", 2000, row("1", "a"), {}),
            ],
        ],
        [row("2", "a")],
    ),
    "an insert and an update at the write time of the key change behind them": Case(
        "canal_json",
        "inserted_updated_and_moved",
        [
            [canal("UPDATE", 2000, row("2", "b"), {"id": "1"})],
            [
                canal("INSERT", 2000, row("1", "a")),
                canal("UPDATE", 2000, row("1", "b"), {"name": "a"}),
            ],
        ],
        [row("2", "b")],
    ),
    "updates at the write time of the key change behind them": Case(
        "canal_json",
        "updated_twice_and_moved",
        [
            [canal("UPDATE", 2000, row("2", "c"), {"id": "1"})],
            [
                canal("INSERT", 1000, row("1", "a")),
                canal("UPDATE", 2000, row("1", "b"), {"name": "a"}),
                canal("UPDATE", 2000, row("1", "c"), {"name": "b"}),
            ],
        ],
        [row("2", "c")],
    ),
    "an insert, an update and a key change in three partitions, the last one first": Case(
        "canal_json",
        "changed_in_three_partitions",
        [
            [canal("UPDATE", 2000, row("2", "b"), {"id": "1"})],
            [canal("UPDATE", 2000, row("1", "b"), {"name": "a"})],
            [canal("INSERT", 2000, row("1", "a"))],
        ],
        [row("2", "b")],
    ),
    "an update at the write time of the insert and the key change around it": Case(
        "canal_json",
        "updated_between",
        [
            [canal("UPDATE", 2000, row("1", "b"), {"name": "a"})],
            [
                canal("INSERT", 2000, row("1", "a")),
                canal("UPDATE", 2000, row("2", "b"), {"id": "1"}),
            ],
        ],
        [row("2", "b")],
    ),
    "an update at the write time of the key change before it": Case(
        "canal_json",
        "moved_and_updated",
        [
            [canal("UPDATE", 2000, row("2", "b"), {"name": "a"})],
            [
                canal("INSERT", 1000, row("1", "a")),
                canal("UPDATE", 2000, row("2", "a"), {"id": "1"}),
            ],
        ],
        [row("2", "b")],
    ),
    "another row takes the key at the write time of the key change, which lands later": Case(
        "canal_json",
        "key_taken_again",
        [
            [
                canal("UPDATE", 2000, row("1", "c"), {"name": "b"}),
                canal("UPDATE", 2000, row("1", "y"), {"name": "x"}),
            ],
            [canal("INSERT", 2000, row("1", "x"))],
            [
                canal("INSERT", 1000, row("1", "a")),
                canal("INSERT", 1000, row("3", "a")),
                canal("UPDATE", 1500, row("1", "b"), {"name": "a"}),
                canal("UPDATE", 2000, row("2", "c"), {"id": "1"}),
            ],
        ],
        [row("1", "y"), row("2", "c"), row("3", "a")],
    ),
    "an insert at the write time of the key change that takes its row away": Case(
        "canal_json",
        "inserted_and_moved",
        [
            [canal("UPDATE", 2000, row("2", "a"), {"id": "1"})],
            [canal("INSERT", 2000, row("1", "a"))],
        ],
        [row("2", "a")],
    ),
    "a partial image stands behind a key change of its write time, in a lower partition": Case(
        "canal_json",
        "partial_behind_a_key_change",
        [
            [canal("UPDATE", 2000, row("2", "b"), {"name": "a"})],
            [
                canal("INSERT", 1000, {**row("1", "a"), "note": "n"}),
                canal("UPDATE", 2000, row("2", "a"), {"id": "1"}),
            ],
        ],
        [{**row("2", "b"), "note": "n"}],
    ),
    "a key change with a partial image stands behind an update in a higher partition": Case(
        "canal_json",
        "partial_key_change",
        [
            [canal("UPDATE", 2000, row("2", "b"), {"id": "1"})],
            [
                canal("INSERT", 1000, {**row("1", "a"), "note": "n"}),
                canal(
                    *("UPDATE", 2000, {**row("1", "b"), "note": "m"}), {"name": "a", "note": "n"}
                ),
            ],
        ],
        [{**row("2", "b"), "note": "m"}],
    ),
    "another row is inserted on the key at the write time of a partial key change before it": Case(
        "canal_json",
        "key_taken_behind_a_partial_key_change",
        [
            [
                canal("INSERT", 1000, {**row("1", "a"), "note": "n"}),
                canal("INSERT", 2000, {**row("1", "x"), "note": "y"}),
            ],
            [canal("UPDATE", 2000, row("2", "a"), {"id": "1"})],
        ],
        [{**row("1", "x"), "note": "y"}, {**row("2", "a"), "note": "n"}],
    ),
    "a row that is inserted and deleted in a transaction is no key change": Case(
        "cdl_debezium_json",
        "lost_delete",
        [
            [
                debezium("c", 100, 1, row(1, "a")),
                {"op": "d", "message_version": "2.0"},
                debezium("c", 300, 3, row(1, "b")),
                debezium("d", 310, 3, row(1, "b")),
            ]
        ],
        [],
    ),
    "a row that is inserted and deleted at one log position is no key change": Case(
        "cdl_debezium_json",
        "lost_delete_at_one_position",
        [
            [
                debezium("c", 100, 1, row(1, "a")),
                {"op": "d", "message_version": "2.0"},
                debezium("c", 300, 3, row(1, "b")),
                {**(debezium("d", 300, 3, row(1, "b")) or {}), "before": row(1, "b")},
            ]
        ],
        [],
    ),
    "two rows swap their keys, each told as a delete and an insert": Case(
        "cdl_debezium_json",
        "swap",
        [
            [
                debezium("c", 100, 1, row(1, "a")),
                debezium("c", 110, 1, row(2, "b")),
                debezium("d", 200, 2, row(1, "a")),
                None,
                debezium("c", 200, 2, row(2, "a")),
                debezium("d", 210, 2, row(2, "b")),
                None,
                debezium("c", 210, 2, row(1, "b")),
            ]
        ],
        [row(1, "b"), row(2, "a")],
    ),
    "the deletes and inserts of a swap are in partitions of their keys": Case(
        "cdl_debezium_json",
        "swap_over_partitions",
        [
            [
                debezium("c", 100, 1, row(1, "a")),
                debezium("d", 200, 2, row(1, "a")),
                None,
                debezium("c", 210, 2, row(1, "b")),
            ],
            [
                debezium("c", 110, 1, row(2, "b")),
                debezium("c", 200, 2, row(2, "a")),
                debezium("d", 210, 2, row(2, "b")),
                None,
            ],
        ],
        [row(1, "b"), row(2, "a")],
    ),
    # Two rows move up by one, each from partition to partition.  So only the lack of others at
    # their log position shows which delete has which insert.
    "a further delete at a log position shows that it has no key change": Case(
        "cdl_debezium_json",
        "no_key_change_after_all",
        [
            [debezium("c", 10, 1, row(0, "a")), None, None, debezium("d", 80, 7, row(0, "a"))],
            [
                debezium("c", 20, 1, row(1, "b")),
                None,
                None,
                debezium("c", 80, 7, row(1, "a")),
                debezium("d", 90, 7, row(1, "b")),
            ],
            [*[None] * 3, debezium("c", 90, 7, row(2, "b"))],
            [debezium("c", 30, 1, row(9, "c")), *[None] * 5, debezium("d", 90, 7, row(9, "c"))],
        ],
        [row(2, "b")],
    ),
    "images of a swap have numbers in their keys now as texts, now as numbers": Case(
        "dataworks_json",
        "swap_of_texts",
        [
            [
                streamx(-1, "INSERT", after=row(1, "a")),
                streamx(-1, "INSERT", after=row(2, "b")),
                streamx(200, "UPDATE_AFTER", {"id": "1", "name": "a"}, row(2, "a")),
                streamx(201, "UPDATE_AFTER", {"id": "2", "name": "b"}, row(1, "b")),
            ]
        ],
        [row(1, "b"), row(2, "a")],
    ),
    "a producer restarts within the second key change of a swap": Case(
        "cdl_debezium_json",
        "swap_with_a_restart",
        [
            [
                debezium("c", 100, 1, row(1, "a")),
                debezium("c", 110, 1, row(2, "b")),
                debezium("d", 200, 2, row(1, "a")),
                None,
                debezium("c", 200, 2, row(2, "a")),
                debezium("d", 200, 2, row(2, "b")),
                None,
                debezium("d", 200, 2, row(2, "b")),
                None,
                debezium("c", 200, 2, row(1, "b")),
            ]
        ],
        [row(1, "b"), row(2, "a")],
    ),
    "a row comes to a key before the row that has it is deleted": Case(
        "dts_avro",
        "deleted_behind_a_key_change",
        [
            [
                dts("INSERT", 1, "a", after=row(1, "A")),
                dts("INSERT", 2, "b", after=row(2, "B")),
                dts("UPDATE", 3, "c", before=row(1, "A"), after=row(2, "A")),
                dts("DELETE", 4, "c", before=row(2, "B")),
            ]
        ],
        [row(2, "A")],
    ),
    "a task that is made anew reports once more that rows move up by one": Case(
        "dts_avro",
        "moved_up_twice",
        [
            [
                dts("INSERT", 1, "a", after=row(1, "a")),
                dts("INSERT", 2, "b", after=row(2, "b")),
                *(
                    dts(
                        "UPDATE", first + step, "c", before=row(id_, name), after=row(id_ + 1, name)
                    )
                    for first in (3, 1003)
                    for step, (id_, name) in enumerate([(1, "a"), (2, "b")])
                ),
            ]
        ],
        [row(2, "a"), row(3, "b")],
    ),
    "a row is inserted before the row that has its key leaves it": Case(
        "dts_avro",
        "inserted_before_a_key_change",
        [
            [
                dts("INSERT", 1, "a", after=row(2, "old")),
                dts("INSERT", 2, "b", after=row(7, "other")),
                dts("INSERT", 3, "c", after=row(2, "new")),
                dts("UPDATE", 4, "c", before=row(2, "old"), after=row(3, "old")),
            ]
        ],
        [row(2, "new"), row(3, "old"), row(7, "other")],
    ),
    "a row comes to a key before the row of the same time is deleted": Case(
        "dataworks_json",
        "deleted_at_the_time_of_a_key_change",
        [
            [
                streamx(-1, "INSERT", after=row(1, "A")),
                streamx(-1, "INSERT", after=row(2, "B")),
                moved(100, row(1, "A"), row(2, "A")),
                streamx(101, "DELETE", row(2, "B")),
            ]
        ],
        [row(2, "A")],
    ),
    "a row is inserted before one leaves by a delete and an insert": Case(
        "cdl_debezium_json",
        "inserted_before_a_split_key_change",
        [
            [
                debezium("c", 100, 1, row(2, "old")),
                debezium("c", 200, 2, row(2, "new")),
                debezium("d", 210, 2, row(2, "old")),
                None,
                debezium("c", 210, 2, row(3, "old")),
            ]
        ],
        [row(2, "new"), row(3, "old")],
    ),
    "a row that the load read ahead moves weeks later, and messages name no transaction": Case(
        "dts_avro",
        "no_transaction",
        [
            [
                dts("INIT", 1, "0", after=row(2, "b")),
                dts("INSERT", 2, "0", after=row(2, "a")),
                dts("UPDATE", 3, "0", before=row(2, "a"), after=row(2, "b")),
                dts("UPDATE", 4, "0", WEEKS_LATER, before=row(2, "b"), after=row(2, "c")),
                dts("UPDATE", 5, "0", WEEKS_LATER + 1, before=row(2, "c"), after=row(3, "c")),
            ]
        ],
        [row(3, "c")],
    ),
    "a row that came is deleted in its transaction": Case(
        "dts_avro",
        "came_and_deleted",
        [
            [
                dts("INSERT", 1, "a", after=row(1, "A")),
                dts("INSERT", 2, "b", after=row(2, "B")),
                dts("DELETE", 3, "c", before=row(2, "B")),
                dts("UPDATE", 4, "c", before=row(1, "A"), after=row(2, "A")),
                dts("DELETE", 5, "c", before=row(2, "A")),
            ]
        ],
        [],
    ),
}


@pytest.mark.parametrize("way", ["at once", "by and by", "history"])
@pytest.mark.parametrize("name", CASES)
def test_the_row_that_leaves_a_key_is_the_one_whose_image_says_so(
    stages: Stages, name: str, way: str
) -> None:
    """In a rebuild all messages are read at once."""
    case = CASES[name]
    if way == "history":
        rows = [row for row in stages.last.rows[ROW_HISTORY] if row["is_current"]]
    else:
        rows = (stages.rebuilt if way == "at once" else stages.last).rows[LATEST_STATE]
    found = [row["row"] for row in rows if row["table_name"] == case.table]
    assert sorted(found, key=json.dumps) == sorted(case.rows, key=json.dumps)


def land(project: Project, run: int) -> None:
    """A few messages of each partition in each run."""
    for case in CASES.values():
        project.land(
            case.source_format,
            [
                Landed(f"t {case.table}", offset, value(case, message), partition=partition)
                for partition, messages in enumerate(case.partitions)
                for offset, message in enumerate(messages)
                if min(offset // 3, 2) == run
            ],
        )


def value(case: Case, message: Message | None) -> bytes | None:
    if message is None:
        return None
    if case.source_format == "dts_avro":
        return dts_avro.encode({**message, "objectName": f"shop.{case.table}"})
    return json.dumps(message).replace("TABLE", case.table).encode()
