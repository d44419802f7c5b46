"""`cdc-marts report` says of a target what landed, what became of it, and what it takes."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from cdc_marts.operations.report.facts import (
    Facts,
    NodeTime,
    RunTime,
    TableActivity,
    Traffic,
    gather,
)
from cdc_marts.operations.status import Rejects, TopicStatus
from cdc_marts.project.inventory import inventory_of
from cdc_marts.project.target import Target
from tests.python.encoders import canal_json, cdl_json
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    UPDATE,
    Change,
    Heartbeat,
    Message,
    Place,
    RowChange,
    Statement,
    Table,
)
from tests.python.harness.manifest import ROOT
from tests.python.harness.project import Landed, Project

pytestmark = pytest.mark.thorough

ORDERS = Table("orders", {"id": "long", "note": "text"}, ("id",))
CUSTOMERS = Table("customers", {"id": "long"}, ("id",))
PEOPLE = Table("people", {"id": "long"}, ("id",), schema="public")

THIS_HOUR = dt.datetime.now(dt.timezone.utc).replace(minute=0, second=0, microsecond=0)
#: When messages landed: a day and two hours lie between the last two, so that hours are shown.
LATER_HOUR = THIS_HOUR - dt.timedelta(hours=1)
EARLIER_HOUR = LATER_HOUR - dt.timedelta(hours=26)
LATER, EARLIER = LATER_HOUR + dt.timedelta(minutes=5), EARLIER_HOUR + dt.timedelta(minutes=10)
DAYS = 30
#: Before the days that plots over time show.
LONG_AGO = LATER - dt.timedelta(days=DAYS + 10)

FOREIGN = "marts.somebodys_report"


@dataclass(frozen=True)
class Gathered:
    facts: Facts
    #: seconds that the run took, as this test saw it
    run_seconds: float
    began_at: dt.datetime


def row(kind: str, table: Table, id_: int, at: dt.datetime) -> RowChange:
    before = {"id": id_, "note": "old"} if kind in (UPDATE, DELETE) else None
    after = {"id": id_, "note": "new"} if kind in (INSERT, UPDATE) else None
    images = [image and {name: image[name] for name in table.columns} for image in (before, after)]
    return RowChange(kind, table, place(at), *images)


def place(at: dt.datetime) -> Place:
    return Place(int(at.timestamp()), int(at.timestamp() * 1000))


def seconds_before(at: dt.datetime, seconds: int) -> dt.datetime:
    return at - dt.timedelta(seconds=seconds)


def canal(change: Change) -> Message:
    [message] = canal_json.encode(change)
    return message


def cdl(change: Change) -> Message:
    [message] = cdl_json.encode(change)
    return message


def land(
    project: Project, source_format: str, topic: str, first: int, at: dt.datetime, *values: Message
) -> None:
    landed = [Landed(topic, first + n, m.value, m.key) for n, m in enumerate(values)]
    project.land(source_format, landed, at)


@pytest.fixture(scope="module")
def gathered(project: Project) -> Iterator[Gathered]:
    """Nine Canal messages in two topics and two of CDL were read; one more Canal message waits."""
    first = canal(row(INSERT, ORDERS, 1, seconds_before(LONG_AGO, 60)))
    land(project, "canal_json", "shop", 0, LONG_AGO, first)
    earlier = [
        canal(row(INSERT, ORDERS, 2, seconds_before(EARLIER, 30))),
        canal(row(UPDATE, ORDERS, 1, seconds_before(EARLIER, 10))),
    ]
    land(project, "canal_json", "shop", 1, EARLIER, *earlier)
    later = canal(row(DELETE, ORDERS, 2, seconds_before(LATER, 5)))
    land(project, "canal_json", "shop", 3, LATER, later, Message(b"[]"), Message(b"{"))
    both = Statement(
        tuple(row(INSERT, CUSTOMERS, id_, seconds_before(EARLIER, 120)) for id_ in (1, 2))
    )
    land(project, "canal_json", "crm", 0, EARLIER, canal(both), Message(b'{"database": "shop"}'))
    people = [
        cdl(row(INSERT, PEOPLE, 1, seconds_before(LATER, 7))),
        cdl(Heartbeat(place(seconds_before(LATER, 1)))),
    ]
    land(project, "cdl_json", "shop", 0, LATER, *people)
    began_at, began = dt.datetime.now(dt.timezone.utc), time.monotonic()
    project.dbt("run")
    run_seconds = time.monotonic() - began
    waiting = canal(row(UPDATE, ORDERS, 1, LATER))
    land(project, "canal_json", "shop", 6, LATER, waiting)
    project.spark.sql(f"create table {FOREIGN} using iceberg as select 1 as n")
    yield Gathered(facts_of(project), run_seconds, began_at)
    project.spark.sql(f"drop table {FOREIGN} purge")


def facts_of(project: Project) -> Facts:
    return gather(project.spark, "local", DAYS, inventory_of(Target.find("local", ROOT)))


def test_topics_are_in_it_with_their_ledger_rejects_and_freshness(gathered: Gathered) -> None:
    assert gathered.facts.status.topics == [
        TopicStatus(
            "canal_json",
            "crm",
            read=Counter(change=1),
            rejects={"missing_field": Rejects(1, 1)},
            last_landed_at=EARLIER,
            last_event_at=seconds_before(EARLIER, 120),
        ),
        TopicStatus(
            "canal_json",
            "shop",
            read=Counter(change=4),
            waiting=1,
            rejects={"malformed_json": Rejects(2, 2)},
            last_landed_at=LATER,
            oldest_waiting_at=LATER,
            last_event_at=seconds_before(LATER, 5),
        ),
        TopicStatus(
            "cdl_json",
            "shop",
            read=Counter(change=1, heartbeat=1),
            last_landed_at=LATER,
            last_event_at=seconds_before(LATER, 1),
        ),
    ]


def test_traffic_is_counted_by_hours_with_its_lag(gathered: Gathered) -> None:
    """What landed before the days that are shown is not in it, nor is what waits."""
    assert gathered.facts.bucket == "hour"
    assert gathered.facts.traffic == [
        Traffic("canal_json", "crm", EARLIER_HOUR, 2, 120, 120),
        # Of two lags, the median is the smaller one.
        Traffic("canal_json", "shop", EARLIER_HOUR, 2, 10, 30),
        Traffic("canal_json", "shop", LATER_HOUR, 3, 5, 5),
        Traffic("cdl_json", "shop", LATER_HOUR, 2, 1, 7),
    ]


def test_source_tables_have_their_operations_and_live_rows(gathered: Gathered) -> None:
    assert gathered.facts.source_tables == [
        TableActivity("canal_json", "shop.orders", Counter(insert=2, update=1, delete=1), 1),
        TableActivity("canal_json", "shop.customers", Counter(insert=2), 2),
        TableActivity("cdl_json", "public.people", Counter(insert=1), 1),
    ]


def test_stored_tables_are_those_of_the_project(gathered: Gathered, project: Project) -> None:
    tables = {table.name: table for table in gathered.facts.stored_tables}
    expected = {
        # Messages, those that wait included.
        "landing.canal_json": ("landing", 9),
        "landing.cdl_json": ("landing", 2),
        "landing.run_results": ("landing", 1),
        # A message of two rows is two records.
        "staging.stg_canal_json": ("staging", 9),
        "staging.stg_cdl_json": ("staging", 2),
        # A deleted row is remembered.
        "intermediate.int_row_state": ("intermediate", 5),
    }
    found = {name: (table.layer, table.rows) for name, table in tables.items() if name in expected}
    assert found == expected
    assert tables["seeds.source_ops"].layer == "seeds"
    assert FOREIGN not in tables
    assert "marts.latest_state" not in tables  # a view
    for name in ("landing.canal_json", "staging.stg_canal_json", "intermediate.int_row_state"):
        [files] = project.rows(
            f"select count(*) as files, sum(file_size_in_bytes) as size from {name}.files"
        )
        assert (tables[name].files, tables[name].size) == (files["files"], files["size"])


def test_the_run_is_in_it_with_its_nodes(gathered: Gathered) -> None:
    [run] = gathered.facts.runs
    nodes = {node.name: node for node in gathered.facts.nodes}
    assert (run.command, run.outcome, run.warnings, run.failed) == ("dbt run", "succeeded", 0, ())
    assert gathered.began_at <= run.started_at
    assert 0 < run.seconds <= gathered.run_seconds
    seconds = [node.seconds for node in gathered.facts.nodes]
    assert seconds == sorted(seconds, reverse=True)
    assert 0 < seconds[0] < run.seconds
    assert {node.status for node in gathered.facts.nodes} == {"success"}
    assert nodes["stg_canal_json"].rows_written == 9
    assert nodes["stg_cdl_json"].rows_written == 2
    assert nodes["latest_state"].rows_written is None


def test_a_test_that_warns_is_a_run_and_prints_the_rejects_of_each_topic(
    gathered: Gathered, project: Project
) -> None:
    now = dt.datetime.now(dt.timezone.utc)
    land(project, "canal_json", "crm", 2, now, Message(b"{"))
    project.dbt("run", "--select", "stg_canal_json")
    printed: list[str] = []

    def on_event(event: Any) -> None:
        if event.info.name == "JinjaLogInfo":
            printed.append(event.info.msg)

    project.dbt("test", "--select", "messages_can_be_read", on_event=on_event)

    assert "".join(f"{line}\n" for line in printed) == (
        "\n"
        "Messages that could not be read:\n"
        "  crm (canal_json): 2, 1 of them since the last run: 1 malformed_json, 1 missing_field\n"
        "  shop (canal_json): 2: 2 malformed_json\n"
        "See marts.quarantined_messages for the messages and reasons. To accept them, enter their"
        " number in `accepted_rejects`.\n"
        "\n"
    )
    # A run on another target, whose landing schema is the same.
    results = "landing.run_results"
    [foreign] = project.rows(f"select * from {results} order by started_at desc limit 1")
    foreign |= {"run_id": "foreign", "target_name": "dev", "started_at": now + dt.timedelta(days=1)}
    frame = project.spark.createDataFrame([foreign], project.spark.table(results).schema)
    frame.writeTo(results).append()

    facts = facts_of(project)
    *_, run, tested = facts.runs
    assert [run.command, tested.command] == ["dbt run", "dbt test"]
    assert tested == RunTime("dbt test", tested.started_at, tested.seconds, "succeeded", 1, ())
    [node] = facts.nodes
    assert node == NodeTime("messages_can_be_read", "warn", node.seconds, None)
