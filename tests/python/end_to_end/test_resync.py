"""A table that differs from its source is repaired from a new full load, in one run."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.spark_session.api import RunLock, SessionError

from cdc_marts.operations.resync import resync as resync_table
from cdc_marts.project import locks
from tests.python.encoders import changes, datahub_tuple, lindorm_debezium
from tests.python.harness.commands import run_command
from tests.python.harness.project import LANDED_AT, Landed, Project, content

#: A format with log positions, one that is ordered by landing, and one whose loads are inserts.
STREAMX, CANAL, CDL = "dataworks_json", "canal_json", "cdl_json"
TABLE = "shop.orders"
#: The topic of the stream, and that of a load whose rows are inserts.
STREAM, RELOAD = "t", "reload"
#: Tables of the first format: a keyless one, and one that is loaded from two topics.
LOGS, PARTS = "shop.logs", "shop.parts"
#: One whose newer load landed before an older one with an equal row.
COPIES = "shop.copies"
#: A table of this format whose changes landed at several times, and whose last change was lost.
PAUSED = "shop.paused"
#: One whose repair is interrupted before its run.
KILLED = "shop.killed"
#: One that got a column before its load, which a change of an earlier time did not list.
WIDENED = "shop.widened"
#: One that lost a column after its load.
NARROWED = "shop.narrowed"
#: Tables whose producers have no full load: format -> table.
EXPORTED = {"lindorm_debezium": "shop.default.orders", "datahub_tuple": "shop.orders"}
#: Tables that nobody repairs.
OTHERS = ((STREAMX, "shop.others"), (CDL, "public.customers"))
LOADED_AT = LANDED_AT + dt.timedelta(days=1)
SHORTLY = dt.timedelta(minutes=1)
MARTS = ("change_events", "latest_state", "row_history", "message_ledger", "source_tables")
#: Data tests of what holds, whatever is repaired.
PROMISES = (
    "test_name:sequence_is_unique",
    "test_name:history_equals_state",
    "test_name:ledger_balances",
)
SECOND = 1_767_225_600_000

Row = Mapping[str, Any]
#: operation, position, row, row before
Change = tuple[str, int, Row, Row | None]

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("command_line")]


def row(id_: int, v: str) -> dict[str, Any]:
    return {"id": id_, "v": v}


#: What the stream published: the last update of 2 and the delete of 3 were lost.
BEFORE: Sequence[Change] = [
    ("snapshot", -1, row(1, "a"), None),
    ("snapshot", -1, row(2, "a"), None),
    ("snapshot", -1, row(3, "a"), None),
    ("snapshot", -1, row(5, "same"), None),
    ("update", 100, row(1, "b"), row(1, "a")),
    ("insert", 101, row(4, "a"), None),
    ("update", 102, row(2, "b"), row(2, "a")),
]
#: The new load, and what the stream publishes meanwhile and later.
SINCE: Sequence[Change] = [
    ("snapshot", -1, row(1, "b"), None),
    ("snapshot", -1, row(2, "new"), None),
    ("update", 110, row(1, "c"), row(1, "b")),
    ("snapshot", -1, row(4, "a"), None),
    ("snapshot", -1, row(5, "same"), None),
    ("delete", 111, row(4, "a"), None),
]
#: A load goes on after it was asked for.
LATER: Sequence[Change] = [
    ("snapshot", -1, row(6, "late"), None),
    ("insert", 112, row(7, "x"), None),
]
REPAIRED = [row(1, "c"), row(2, "new"), row(5, "same")]
AT_LAST = [*REPAIRED, row(6, "late"), row(7, "x")]
#: Much later, the table is loaded again, and no repair is asked for.  Only some formats order such
#: a load behind the stream.
LOADED_AGAIN: Sequence[Change] = [
    ("update", 113, row(7, "y"), row(7, "x")),
    ("snapshot", -1, row(7, "z"), None),
]
AFTER_THE_COMMAND = dt.datetime.now(dt.timezone.utc) + dt.timedelta(days=1)


def streamx(
    op: str,
    position: int,
    after: Row,
    before: Row | None,
    index: int,
    table: str = TABLE,
    key: Sequence[str] = ("id",),
) -> Row:
    codes = {"snapshot": "INSERT", "insert": "INSERT", "update": "UPDATE_AFTER", "delete": "DELETE"}
    time = -1 if op == "snapshot" else SECOND + index
    if op == "delete":
        before, after = after, None
    return {
        "schema": {
            "dataColumn": [{"name": "id", "type": "LONG"}, {"name": "v", "type": "STRING"}],
            "primaryKey": key,
            "source": {"dbType": "PostgreSQL", "dbName": "shop", "tableName": table.split(".")[1]},
        },
        "payload": {
            "before": before and {"dataColumn": before},
            "after": after and {"dataColumn": after},
            "sequenceId": str(position),
            "op": codes[op],
            "timestamp": {"eventTime": time, "systemTime": time, "checkpointTime": time},
        },
    }


def with_note(message: Row) -> Row:
    """Return a message of a time in which the table had a further column."""
    schema, payload = message["schema"], message["payload"]
    columns = [*schema["dataColumn"], {"name": "note", "type": "STRING"}]
    image = {"dataColumn": {**payload["after"]["dataColumn"], "note": "x"}}
    return {
        "schema": {**schema, "dataColumn": columns},
        "payload": {**payload, "after": image},
    }


def at_time(message: Row, time: dt.datetime) -> Row:
    millis = int(time.replace(tzinfo=dt.timezone.utc).timestamp() * 1_000)
    times = {**message["payload"]["timestamp"], "eventTime": millis}
    return {**message, "payload": {**message["payload"], "timestamp": times}}


def canal(op: str, _: int, after: Row, before: Row | None, index: int) -> Row:
    image = {name: str(value) for name, value in after.items()}
    return {
        "database": "shop",
        "table": "orders",
        "type": "INIT" if op == "snapshot" else op.upper(),
        "es": SECOND,
        "ts": SECOND + index,
        "isDdl": False,
        "pkNames": ["id"],
        "mysqlType": {"id": "bigint", "v": "varchar(10)"},
        "data": [image],
        "old": None if before is None else [{"v": before["v"]}],
    }


def cdl(
    op: str, position: int, after: Row, before: Row | None, index: int, table: str = TABLE
) -> Row:
    """A row of a load is an insert that looks older than the stream."""
    owner, name = table.split(".")
    if op == "delete":
        before = after
    return {
        "DATA_STORE": "POSTGRESQL",
        "SEG_OWNER": owner,
        "TABLE_NAME": name,
        "TIMESTAMP": SECOND + index,
        "OPERATION": "INSERT" if op == "snapshot" else op.upper(),
        "transaction": {"properties": [{"name": "lsn", "value": max(position, 1)}]},
        "unique": {"id": after["id"]},
        "data": None if op == "delete" else after,
        "before": before,
        "message_version": "1.0",
    }


ENCODE = {STREAMX: streamx, CANAL: canal, CDL: cdl}
ENCODE_EXPORTED = {
    "lindorm_debezium": lindorm_debezium.encode,
    "datahub_tuple": partial(datahub_tuple.encode, dialect=datahub_tuple.DTS),
}


def written(message: Row) -> bytes:
    return json.dumps(message).encode()


def land(
    project: Project,
    first: int,
    changes: Sequence[Change],
    at: dt.datetime,
    source_formats: Sequence[str] = tuple(ENCODE),
) -> None:
    for source_format in source_formats:
        encode = ENCODE[source_format]
        is_apart = source_format == CDL and first > 0
        landed = [
            Landed(
                RELOAD if is_apart and change[0] == "snapshot" else STREAM,
                first + index,
                written(encode(*change, first + index)),
            )
            for index, change in enumerate(changes)
        ]
        project.land(source_format, landed, at)


def land_loads(
    project: Project, table: str, loads: Mapping[str, Sequence[Row]], at: dt.datetime
) -> None:
    """Full loads of a StreamX table: topic -> its rows."""
    key = () if table == LOGS else ("id",)
    for topic, rows in loads.items():
        landed = [
            Landed(topic, n, written(streamx("snapshot", -1, loaded, None, n, table, key)))
            for n, loaded in enumerate(rows)
        ]
        project.land(STREAMX, landed, at)


def land_exports(project: Project) -> None:
    """Rows of a table that somebody exported, and its stream, which lost changes before."""
    orders = changes.Table("orders", {"id": "long", "v": "text"}, key=("id",))

    def change(kind: str, position: int, **images: Row) -> changes.RowChange:
        return changes.RowChange(kind, orders, changes.Place(position, SECOND + position), **images)

    landings = [
        (STREAM, LANDED_AT, [change("insert", n, after=row(n, "a")) for n in (1, 3)]),
        ("export", LOADED_AT, [change("snapshot", 5, after=row(n, "b")) for n in (1, 2)]),
        ("later", LOADED_AT, [change("update", 6, before=row(2, "b"), after=row(2, "c"))]),
    ]
    for source_format, encode in ENCODE_EXPORTED.items():
        for topic, at, published in landings:
            messages = [message for one in published for message in encode(one)]
            landed = [Landed(topic, n, m.value, m.key) for n, m in enumerate(messages)]
            project.land(source_format, landed, at)


def rows_of(project: Project, source_format: str, table: str = TABLE) -> list[dict[str, Any]]:
    found = [state["row"] for state in project.latest_state(source_format, table)]
    return sorted(({**one, "id": int(one["id"])} for one in found), key=lambda one: one["id"])


def resync(*arguments: str) -> Any:
    return run_command("resync", *arguments)


def repair(source_format: str, table: str, *load: str) -> str:
    """What the command said."""
    done = resync("--format", source_format, "--table", table, *load)
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@dataclass(frozen=True)
class Others:
    """What a repair of a table leaves alone."""

    rows: Sequence[Sequence[Mapping[str, Any]]]
    #: of what the parsers read
    snapshots: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, project: Project) -> Others:
        relations = [f"staging.stg_{source_format}" for source_format in ENCODE]
        return cls(
            [list(project.latest_state(*other)) for other in OTHERS],
            {
                relation: [
                    row["snapshot_id"]
                    for row in project.rows(f"select snapshot_id from {relation}.snapshots")
                ]
                for relation in relations
            },
        )


@dataclass(frozen=True)
class Repaired:
    project: Project
    #: format, table -> what the command said
    said: Mapping[tuple[str, str], str]
    #: before and after the repairs
    others: tuple[Others, Others]


@pytest.fixture(scope="module")
def diverged(project: Project) -> Project:
    land(project, 0, BEFORE, LANDED_AT)
    land_loads(project, LOGS, {"logs": [row(1, "x"), row(1, "x"), row(2, "gone")]}, LANDED_AT)
    land_loads(project, PARTS, {"parts": [row(1, "old"), row(2, "gone")]}, LANDED_AT)
    land_loads(project, KILLED, {"killed": [row(1, "old"), row(2, "gone")]}, LANDED_AT)
    first, second = (
        Landed("paused", offset, written(streamx("update", position, row(1, v), None, 0, PAUSED)))
        for offset, (position, v) in enumerate([(500, "v1"), (600, "v2")])
    )
    project.land(STREAMX, [first])
    project.land(STREAMX, [second], LOADED_AT - dt.timedelta(hours=1))
    for table, time in ((WIDENED, LOADED_AT - SHORTLY), (NARROWED, LOADED_AT + SHORTLY)):
        known = streamx("insert", 50, row(1, "a"), None, 0, table)
        project.land(STREAMX, [Landed(table, 0, written(known))])
        loaded = with_note(streamx("snapshot", -1, row(1, "a"), None, 1, table))
        narrow = at_time(streamx("insert", 60, row(2, "b"), None, 2, table), time)
        messages = [Landed(table, n, written(one)) for n, one in enumerate([loaded, narrow], 1)]
        project.land(STREAMX, messages, LOADED_AT)
    for source_format, table in OTHERS:
        other = ENCODE[source_format]("insert", 5, row(1, "a"), None, 0, table)
        project.land(source_format, [Landed("others", 0, written(other))])
    land_exports(project)
    project.dbt("run", "--full-refresh")
    land(project, len(BEFORE), SINCE, LOADED_AT)
    land_loads(project, LOGS, {"logs_reload": [row(1, "x"), row(1, "x"), row(3, "new")]}, LOADED_AT)
    # A load that was begun again under another topic.
    land_loads(project, PARTS, {"parts_1": [row(1, "a")], "parts_2": [row(1, "b")]}, LOADED_AT)
    land_loads(project, PAUSED, {"paused_reload": [row(1, "v3")]}, LOADED_AT)
    land_loads(project, KILLED, {"killed_reload": [row(1, "new")]}, LOADED_AT)
    land_loads(project, COPIES, {"copies_new": [row(1, "a")]}, LOADED_AT)
    land_loads(project, COPIES, {"copies_old": [row(1, "a")]}, LOADED_AT)
    project.dbt("run")
    return project


@pytest.fixture(scope="module")
def repaired(diverged: Project, command_line: None) -> Repaired:
    for source_format in ENCODE:
        assert row(3, "a") in rows_of(diverged, source_format)
    before = Others.of(diverged)
    since = ("--since", (LOADED_AT - dt.timedelta(hours=1)).isoformat())
    loads = {
        (STREAMX, TABLE): since,
        (CANAL, TABLE): since,
        (CDL, TABLE): ("--topic", RELOAD),
        (STREAMX, LOGS): ("--topic", "logs_reload"),
        (STREAMX, PARTS): since,
        (STREAMX, COPIES): ("--topic", "copies_new"),
        **dict.fromkeys(EXPORTED.items(), since),
    }
    said = {table: repair(*table, *load) for table, load in loads.items()}
    return Repaired(diverged, said, (before, Others.of(diverged)))


@pytest.mark.parametrize(
    ("source_format", "since"),
    [
        (STREAMX, "2026-01-01 23:00:00"),
        (CANAL, "2026-01-01 23:00:00"),
        # when the first of its rows was written
        (CDL, "2026-01-01 00:00:00"),
    ],
)
def test_a_full_load_repairs_its_table(repaired: Repaired, source_format: str, since: str) -> None:
    assert rows_of(repaired.project, source_format) == REPAIRED
    said = repaired.said[source_format, TABLE]
    assert f"from 4 rows of the load since {since} UTC" in said
    assert "The table had 4 rows and now has 3." in said


def test_a_keyless_table_is_repaired_from_the_load_in_a_topic(repaired: Repaired) -> None:
    rows = repaired.project.latest_state(STREAMX, LOGS)
    assert sorted((state["row"]["v"], state["row_count"]) for state in rows) == [
        ("new", 1),
        ("x", 2),
    ]
    assert "The table had 6 rows and now has 3." in repaired.said[STREAMX, LOGS]


@pytest.mark.parametrize("source_format", EXPORTED)
def test_an_export_repairs_a_table_whose_producer_has_no_full_load(
    repaired: Repaired, source_format: str
) -> None:
    rows = rows_of(repaired.project, source_format, EXPORTED[source_format])
    assert rows == [row(1, "b"), row(2, "c")]


def test_a_load_may_land_in_two_topics(repaired: Repaired) -> None:
    [held] = rows_of(repaired.project, STREAMX, PARTS)
    assert held in (row(1, "a"), row(1, "b"))
    sequences = repaired.project.rows(
        "select distinct sequence from marts.change_events"
        f" where table_id = '{PARTS}' and topic like 'parts/_%' escape '/'"
    )
    assert len(sequences) == 2


def test_other_copies_of_a_row_of_the_load_stay_redeliveries(repaired: Repaired) -> None:
    assert rows_of(repaired.project, STREAMX, COPIES) == [row(1, "a")]
    events = repaired.project.rows(
        f"select topic from marts.change_events where table_id = '{COPIES}'"
    )
    assert events == [{"topic": "copies_new"}]


def test_other_tables_stay_as_they_are(repaired: Repaired) -> None:
    before, after = repaired.others
    assert all(before.rows)
    assert after == before


def test_what_lands_later_takes_its_place_and_a_rebuild_gives_the_same(repaired: Repaired) -> None:
    project = repaired.project
    land(project, len(BEFORE) + len(SINCE), LATER, LOADED_AT + dt.timedelta(hours=1))
    project.dbt("run")
    for source_format in ENCODE:
        assert rows_of(project, source_format) == AT_LAST
    first = len(BEFORE) + len(SINCE) + len(LATER)
    land(project, first, LOADED_AGAIN, AFTER_THE_COMMAND, [CANAL])
    project.dbt("run")
    assert rows_of(project, CANAL) == [*AT_LAST[:-1], row(7, "z")]
    project.dbt("test", "--select", *PROMISES)
    before = {mart: content(project.spark, f"marts.{mart}") for mart in MARTS}
    project.dbt("run", "--full-refresh")
    assert {mart: content(project.spark, f"marts.{mart}") for mart in MARTS} == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--table", "shop.order", "--since", "2026-01-01"), "Did you mean shop.orders?"),
        (
            ("--table", "shop.orders", "--topic", "other"),
            "No run has read a row of a full load",
        ),
        (("--table", "shop.orders", "--since", "2027-01-01"), "since 2027-01-01 00:00:00 UTC. L"),
        (
            ("--table", "shop.orders", "--since", "2026-01-01T12:00"),
            " UTC. If that run was interrupted",
        ),
        (("--table", "shop.orders", "--since", "today"), "needs a time"),
        (("--table", "shop.orders"), "Identify the load"),
    ],
)
def test_what_cannot_be_repaired_is_said(
    repaired: Repaired, arguments: tuple[str, ...], reason: str
) -> None:
    check_is_refused(CANAL, *arguments, reason=reason)


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (("--since", "2026-01-01"), "Land the load in a topic of its own, and name it by --topic."),
        (("--topic", STREAM), "Topic t also contains updates or deletes of shop.orders"),
        (("--topic", "other"), "No run has read a row of a full load"),
    ],
)
def test_a_load_of_inserts_needs_a_topic_of_its_own(
    repaired: Repaired, load: tuple[str, ...], reason: str
) -> None:
    check_is_refused(CDL, "--table", TABLE, *load, reason=reason)


def test_changes_that_landed_before_the_load_stay_on_top_of_it_only_if_asked(
    repaired: Repaired,
) -> None:
    table, early = ("--table", PAUSED), ("--since", "2026-01-01T08:00")
    check_is_refused(
        STREAMX,
        *table,
        *early,
        reason="Changes of shop.paused landed between 2026-01-01T08:00:00+00:00 (--since) and"
        " 2026-01-02T00:00:00+00:00, when the first row of the load was written. If the load"
        " contains them, repeat the command with --since 2026-01-02T00:00:00+00:00.",
    )
    repair(STREAMX, PAUSED, *early, "--keep-changes")
    assert rows_of(repaired.project, STREAMX, PAUSED) == [row(1, "v2")]
    repair(STREAMX, PAUSED, "--since", "2026-01-02T00:00:00+00:00")
    assert rows_of(repaired.project, STREAMX, PAUSED) == [row(1, "v3")]


def test_a_load_with_a_column_that_the_stream_does_not_list_yet_is_refused(
    repaired: Repaired,
) -> None:
    since = ("--since", LOADED_AT.isoformat())
    check_is_refused(
        STREAMX,
        *("--table", WIDENED, *since),
        reason="Changes of shop.widened from before the load, which landed after it began, list the"
        " table without note.",
    )
    repair(STREAMX, NARROWED, *since)
    assert rows_of(repaired.project, STREAMX, NARROWED) == [row(1, "a"), row(2, "b")]


def test_a_repair_is_not_requested_after_its_turn_is_lost(repaired: Repaired) -> None:
    project = repaired.project
    requests = project.rows("select * from landing.resyncs order by requested_at")

    def check_turn() -> None:
        raise SessionError("another run")

    with pytest.raises(SessionError, match="another run"):
        resync_table(
            *(project.spark, STREAMX, KILLED, lambda _: None, nullcontext(check_turn)),
            topic="killed_reload",
        )
    assert project.rows("select * from landing.resyncs order by requested_at") == requests


def test_a_repair_has_no_effect_until_a_run(repaired: Repaired) -> None:
    """The command was killed before its run, which the next run makes up for."""
    project = repaired.project
    before = rows_of(project, STREAMX, KILLED)
    assert row(2, "gone") in before
    resync_table(
        *(project.spark, STREAMX, KILLED, lambda _: None, nullcontext(lambda: None)),
        topic="killed_reload",
    )
    assert rows_of(project, STREAMX, KILLED) == before
    project.dbt("run")
    assert rows_of(project, STREAMX, KILLED) == [row(1, "new")]


def test_two_repairs_of_a_table_at_once_do_not_get_the_same_number(
    repaired: Repaired, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a shared catalog; an embedded one lets one process in."""
    project = repaired.project
    shared = SimpleNamespace(run_lock="landing.run_lock", lock_timeout=0.1)
    monkeypatch.setattr(locks, "credentials_of", lambda *_: shared)
    requests = project.rows("select * from landing.resyncs order by requested_at")
    other = RunLock(project.spark.newSession(), shared.run_lock)
    other.take(timeout=0)
    load = ("--table", KILLED, "--since", LOADED_AT.isoformat(), "--keep-changes")
    check_is_refused(STREAMX, *load, reason="Another run")
    assert project.rows("select * from landing.resyncs order by requested_at") == requests
    other.release()
    project.spark.sql(f"drop table {shared.run_lock} purge")


def check_is_refused(source_format: str, *arguments: str, reason: str) -> None:
    done = resync("--format", source_format, *arguments)
    assert done.exit_code != 0
    assert reason in " ".join(done.output.split())
