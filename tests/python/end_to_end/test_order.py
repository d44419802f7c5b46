"""Runs and a rebuild put events in one order, and keep the same copy of what comes twice.

Each case is messages of a table of its own, by the run and the commit that lands them, and the
rows that the table has in the end.  Clocks go backwards: no `landed_at` may decide anything.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from cdc_marts.parsing import ops
from tests.python.encoders import dataworks_json, dts_avro, shareplex_json
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Place,
    RowChange,
    Table,
)
from tests.python.harness.commands import commands_use, run_command
from tests.python.harness.project import LANDED_AT, Landed, Project, content
from tests.python.samples.declarations import with_keys

pytestmark = pytest.mark.thorough

MARTS = (
    "change_events",
    "latest_state",
    "row_history",
    "ddl_events",
    "message_ledger",
    "source_tables",
)
RUNS = 4
#: What the parsers do not know until the last run, in which these messages are read again.
NEWER_CODES = {"dataworks_json": "DELETE", "canal_json": "INIT"}
TS = 1_700_000_000_000

Row = dict[str, Any]
Commit = list[Landed]


@dataclass(frozen=True)
class Messages:
    """Messages about one table, which has the key `id` and a column `v`."""

    table: str
    has_key: bool = True

    def canal(
        self,
        type_: str,
        id_: int | None,
        value: str,
        ts: int | None,
        place: tuple[int, int],
        *,
        old: Row | None = None,
        sql: str = "",
        topic: str = "",
        es: int = 0,
    ) -> Landed:
        """`ts` and `es` after `TS`; `place`: partition and offset; a statement has no row."""
        message = {
            "database": "order",
            "table": self.table,
            "type": type_,
            "es": TS + es,
            "ts": None if ts is None else TS + ts,
            "isDdl": bool(sql),
            "sql": sql,
            "pkNames": ["id"] if self.has_key else None,
            "mysqlType": {"id": "bigint", "v": "varchar(9)"},
            "data": None if id_ is None else [{"id": str(id_), "v": value}],
            "old": None if old is None else [old],
        }
        return self._landed(json.dumps(message).encode(), place, topic)

    def heartbeat(self, ts: int, place: tuple[int, int]) -> Landed:
        message = {"type": "MHEARTBEAT", "es": TS, "ts": TS + ts, "isDdl": False}
        return self._landed(json.dumps(message).encode(), place)

    def dts(
        self,
        operation: str,
        before: Row | None,
        after: Row | None,
        number: int,
        seconds: int,
        place: tuple[int, int],
        *,
        topic: str = "",
    ) -> Landed:
        record = dts_avro.row(
            operation,
            f"order.{self.table}",
            before=before,
            after=after,
            key=["id"] if self.has_key else [],
            id=number,
            sourceTimestamp=TS // 1000 + seconds,
            sourcePosition=f"{number}@1",
            sourceTxid=str(number),
        )
        return self._landed(dts_avro.encode(record), place, topic)

    def dataworks(
        self,
        kind: str,
        before: Row | None,
        after: Row | None,
        position: int,
        place: tuple[int, int],
        *,
        topic: str = "",
    ) -> Landed:
        [message] = dataworks_json.encode(
            self._change(kind, before, after, Place(position, TS + position)), split_updates=False
        )
        return self._landed(message.value, place, topic)

    def shareplex(
        self, kind: str, before: Row | None, after: Row | None, at: Place, offset: int
    ) -> list[Landed]:
        """The halves of an update at `offset` and the one behind it."""
        messages = shareplex_json.encode(
            self._change(kind, before, after, at),
            split_updates=kind == UPDATE,
            long_ops=True,
            with_rowid=False,
        )
        return [
            self._landed(message.value, (0, number))
            for number, message in enumerate(messages, start=offset)
        ]

    def _change(self, kind: str, before: Row | None, after: Row | None, at: Place) -> RowChange:
        key = ("id",) if self.has_key else ()
        table = Table(self.table, {"id": "long", "v": "text"}, key, "order")
        return RowChange(kind, table, at, before, after)

    def _landed(self, value: bytes | None, place: tuple[int, int], topic: str = "") -> Landed:
        partition, offset = place
        return Landed(f"{self.table}{topic}", offset, value, partition=partition)


@dataclass(frozen=True)
class Case:
    """What lands of a table, run by run, and what the table holds in the end."""

    name: str
    source_format: str
    #: For each run its commits.
    runs: Callable[[Messages], Sequence[Sequence[Commit]]]
    #: key -> value; of a keyless table the values.
    rows: Mapping[int, str] | Sequence[str]
    #: Offsets of the copies that count, where messages come twice.
    kept: Sequence[int] | None = None
    #: key -> the milliseconds after `TS` of its first event.
    first_events: Mapping[int, int] | None = None

    @property
    def messages(self) -> Messages:
        return Messages(self.name, has_key=isinstance(self.rows, Mapping))

    @property
    def table_id(self) -> str:
        return f"order.{self.name}"


def a_run(*messages: Landed) -> list[Commit]:
    """A run with one commit."""
    return [list(messages)]


def row(id_: int, value: str) -> Row:
    return {"id": id_, "v": value}


# -- cases ---------------------------------------------------------------------------------------

CANAL = [
    Case(
        "offsets_order_a_partition_whose_clock_steps_back",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 1, "first", 5000, (0, 0)),
                m.canal("UPDATE", 1, "second", 4000, (0, 1), old={"v": "first"}),
            )
        ],
        {1: "second"},
    ),
    Case(
        "offsets_order_a_partition_whose_clock_steps_back_between_runs",
        "canal_json",
        lambda m: [
            a_run(m.canal("INSERT", 1, "first", 5000, (0, 0))),
            a_run(m.canal("UPDATE", 1, "second", 4000, (0, 1), old={"v": "first"})),
            a_run(m.canal("UPDATE", 1, "third", 4500, (0, 2), old={"v": "second"})),
        ],
        {1: "third"},
    ),
    Case(
        "a_change_without_a_write_time_stands_where_it_landed",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("UPDATE", 1, "before all", None, (0, 0), old={}),
                m.canal("INSERT", 1, "first", 5000, (0, 1)),
            ),
            a_run(
                m.canal("UPDATE", 1, "second", None, (0, 2), old={"v": "first"}),
                m.canal("UPDATE", 1, "other partition", 4999, (1, 0), old={"v": "first"}),
            ),
        ],
        {1: "second"},
    ),
    Case(
        "a_heartbeat_raises_what_comes_after_it_in_its_partition",
        "canal_json",
        lambda m: [
            a_run(
                m.heartbeat(9000, (0, 0)),
                m.canal("INSERT", 1, "after the heartbeat", 4000, (0, 1)),
            ),
            a_run(m.canal("UPDATE", 1, "earlier", 8000, (1, 0), old={})),
        ],
        {1: "after the heartbeat"},
    ),
    Case(
        "a_late_message_raises_events_of_earlier_runs",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 1, "raised", 4000, (0, 1)),
                m.canal("INSERT", 1, "other", 8000, (1, 0)),
                m.canal("INSERT", 2, "other", 8000, (1, 1)),
                m.canal("DELETE", 2, "other", 4000, (0, 2)),
            ),
            a_run(m.canal("INSERT", 3, "late", 9000, (0, 0))),
        ],
        {1: "raised", 3: "late"},
    ),
    Case(
        "a_late_message_raises_the_key_change_of_an_earlier_run",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 2, "deleted", 500, (1, 0)),
                m.canal("INSERT", 1, "moves", 1000, (0, 1)),
                m.canal("UPDATE", 2, "moves", 4000, (0, 2), old={"id": "1"}),
                m.canal("DELETE", 2, "deleted", 8000, (1, 1), es=7000),
            ),
            a_run(m.heartbeat(9000, (0, 0))),
        ],
        {2: "moves"},
    ),
    Case(
        "a_row_that_comes_to_a_key_and_leaves_it_leaves_the_row_that_was_there",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 1, "moves", 1000, (0, 1)),
                m.canal("UPDATE", 2, "moves", 4000, (0, 2), old={"id": "1"}),
                m.canal("UPDATE", 1, "stays", 8000, (1, 0), old={}),
            ),
            a_run(m.heartbeat(9000, (0, 0))),
        ],
        {1: "stays", 2: "moves"},
    ),
    Case(
        "late_messages_raise_no_more_than_what_is_lower",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 1, "raised", 100, (0, 10)),
                m.canal("UPDATE", 1, "other", 120, (1, 0), old={}),
            ),
            a_run(
                m.canal("INSERT", 2, "not raised", 200, (0, 20)),
                m.canal("UPDATE", 2, "newer", 210, (1, 1), old={}),
            ),
            a_run(m.heartbeat(150, (0, 5))),
            a_run(
                m.heartbeat(205, (0, 4)),
                m.canal("INSERT", 3, "raised too", 190, (0, 15)),
                # of a partition of its own: behind 210 it would stand there too
                m.canal("UPDATE", 3, "other", 201, (2, 0), old={}),
            ),
        ],
        {1: "raised", 2: "newer", 3: "raised too"},
    ),
    Case(
        "a_late_message_is_raised_itself",
        "canal_json",
        lambda m: [
            a_run(m.heartbeat(900, (0, 0)), m.heartbeat(950, (0, 2))),
            a_run(m.canal("INSERT", 1, "other", 500, (1, 0))),
            a_run(m.canal("INSERT", 1, "late", 100, (0, 1))),
        ],
        {1: "late"},
    ),
    Case(
        "equal_rows_of_a_keyless_table_are_counted_once_when_they_are_raised",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 1, "equal", 4000, (0, 1)),
                m.canal("INSERT", 1, "equal", 4000, (0, 2)),
                m.canal("DELETE", 1, "equal", 4000, (0, 3)),
            ),
            a_run(m.heartbeat(9000, (0, 0))),
        ],
        ["equal"],
    ),
    Case(
        "what_is_read_again_raises_what_was_read_before_it",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INIT", 2, "unknown at first", 9000, (0, 0)),
                m.canal("INSERT", 1, "raised", 4000, (0, 1)),
                m.canal("INSERT", 1, "other", 8000, (1, 0)),
            )
        ],
        {1: "raised", 2: "unknown at first"},
    ),
    Case(
        "two_topics_at_one_place_have_two_events",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 1, "one", 1000, (0, 0), topic=" 1"),
                m.canal("INSERT", 2, "other", 1000, (0, 0), topic=" 2"),
            )
        ],
        {1: "one", 2: "other"},
    ),
    Case(
        "a_truncate_ends_the_rows_of_other_partitions_that_were_written_before_it",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 1, "before", 100, (1, 0)),
                m.canal("TRUNCATE", None, "", 500, (0, 0), sql=f"truncate {m.table}"),
                m.canal("INSERT", 2, "behind", 900, (1, 1)),
            )
        ],
        {2: "behind"},
    ),
    Case(
        "a_truncate_takes_a_later_place_with_a_message_that_lands_before_it",
        "canal_json",
        lambda m: [
            a_run(
                m.canal("INSERT", 1, "before", 1000, (0, 0)),
                m.canal("TRUNCATE", None, "", 2000, (0, 2), sql=f"truncate {m.table}"),
                m.canal("INSERT", 2, "behind it at first", 3000, (1, 0)),
                m.canal("INSERT", 3, "behind", 6000, (1, 1)),
            ),
            a_run(m.canal("INSERT", 4, "late", 5000, (0, 1))),
        ],
        {3: "behind"},
    ),
    Case(
        "a_message_that_lands_twice_counts_once",
        "canal_json",
        lambda m: [
            [
                [m.canal("INSERT", 1, "once", 1000, (0, 0))],
                [m.canal("INSERT", 1, "once", 1000, (0, 0))],
            ],
            a_run(m.canal("INSERT", 1, "once", 1000, (0, 0))),
        ],
        ["once"],
    ),
]

DTS = [
    Case(
        "a_topic_that_takes_the_place_of_another_goes_on_where_that_ended",
        "dts_avro",
        lambda m: [
            a_run(m.dts("INSERT", None, row(1, "old"), 1, 0, (0, 100), topic=" 1")),
            a_run(m.dts("UPDATE", row(1, "old"), row(1, "new"), 2, 86_400, (0, 0), topic=" 2")),
        ],
        {1: "new"},
    ),
    Case(
        "a_key_change_goes_to_the_partition_of_the_new_key",
        "dts_avro",
        lambda m: [
            a_run(
                m.dts("UPDATE", row(1, "moves"), row(2, "moves"), 2, 10, (0, 0)),
                m.dts("INSERT", None, row(1, "moves"), 1, 0, (1, 0)),
            )
        ],
        {2: "moves"},
    ),
    Case(
        "offsets_order_a_partition_behind_a_failover",
        "dts_avro",
        lambda m: [
            a_run(m.dts("INSERT", None, row(1, "first"), 1000, 60, (0, 0))),
            a_run(m.dts("UPDATE", row(1, "first"), row(1, "second"), 10, 0, (0, 1))),
        ],
        {1: "second"},
    ),
    Case(
        "a_redelivery_with_another_time_brings_no_deleted_row_back",
        "dts_avro",
        lambda m: [
            a_run(m.dts("INSERT", None, row(1, "gone"), 1, 0, (0, 0))),
            a_run(m.dts("DELETE", row(1, "gone"), None, 2, 5, (0, 1))),
            a_run(m.dts("INSERT", None, row(1, "gone"), 1, 86_400, (0, 2))),
        ],
        {},
        kept=[0, 1],
    ),
    Case(
        "a_redelivery_that_is_raised_has_no_effect_all_the_same",
        "dts_avro",
        lambda m: [
            a_run(
                m.dts("INSERT", None, row(1, "gone"), 1, 0, (0, 1)),
                m.dts("DELETE", row(1, "gone"), None, 2, 5, (0, 2)),
                m.dts("INSERT", None, row(1, "gone"), 1, 0, (0, 3)),
            ),
            a_run(m.dts("INSERT", None, row(2, "late"), 9, 60, (0, 0))),
        ],
        {2: "late"},
        kept=[0, 1, 2],
    ),
]

REDELIVERIES = [
    Case(
        "the_copy_of_the_first_commit_counts",
        "dataworks_json",
        lambda m: [
            [
                [m.dataworks(INSERT, None, row(1, "twice"), 1, (0, 5))],
                [m.dataworks(INSERT, None, row(1, "twice"), 1, (0, 3))],
            ],
        ],
        {1: "twice"},
        kept=[5],
    ),
    Case(
        "the_copy_of_the_first_run_counts",
        "dataworks_json",
        lambda m: [
            a_run(m.dataworks(INSERT, None, row(1, "twice"), 1, (0, 5), topic=" 2")),
            a_run(m.dataworks(INSERT, None, row(1, "twice"), 1, (0, 3), topic=" 1")),
        ],
        {1: "twice"},
        kept=[5],
    ),
    Case(
        "in_one_commit_the_copy_at_the_lowest_offset_counts",
        "dataworks_json",
        lambda m: [
            a_run(
                m.dataworks(INSERT, None, row(1, "twice"), 1, (0, 5)),
                m.dataworks(INSERT, None, row(1, "twice"), 1, (0, 3)),
            )
        ],
        {1: "twice"},
        kept=[3],
    ),
    Case(
        "a_redelivery_long_after_a_full_load_is_found",
        "dataworks_json",
        lambda m: [
            a_run(
                m.dataworks(SNAPSHOT, None, row(1, "loaded"), 0, (0, 0)),
                m.dataworks(INSERT, None, row(2, "gone"), 1000, (0, 1)),
                m.dataworks(UPDATE, row(2, "gone"), row(3, "moved"), 2000, (0, 2)),
            ),
            a_run(
                m.dataworks(SNAPSHOT, None, row(1, "loaded"), 0, (0, 3)),
                m.dataworks(INSERT, None, row(9, "new"), 10**12, (0, 4)),
            ),
            a_run(
                m.dataworks(SNAPSHOT, None, row(8, "loaded"), 0, (0, 5)),
                m.dataworks(INSERT, None, row(2, "gone"), 1000, (0, 6)),
                m.dataworks(INSERT, None, row(7, "new"), 10**13, (0, 7)),
            ),
        ],
        {1: "loaded", 3: "moved", 7: "new", 8: "loaded", 9: "new"},
        kept=[0, 1, 2, 4, 5, 7],
    ),
    Case(
        "a_copy_that_is_read_again_takes_the_place_of_one_that_landed_later",
        "dataworks_json",
        lambda m: [
            a_run(
                m.dataworks(INSERT, None, row(1, "gone"), 1, (0, 0)),
                m.dataworks(INSERT, None, row(2, "stays"), 2, (0, 1)),
                m.dataworks(DELETE, row(1, "gone"), None, 3, (0, 2)),
            ),
            a_run(),
            a_run(),
            a_run(m.dataworks(DELETE, row(1, "gone"), None, 3, (0, 3))),
        ],
        {2: "stays"},
        kept=[0, 1, 2],
    ),
    Case(
        "equal_keyless_rows_whose_delete_is_read_again_are_counted_anew",
        "dataworks_json",
        lambda m: [
            a_run(
                m.dataworks(INSERT, None, row(1, "equal"), 1, (0, 0)),
                m.dataworks(INSERT, None, row(1, "equal"), 2, (0, 1)),
                m.dataworks(DELETE, row(1, "equal"), None, 3, (0, 2)),
            ),
            a_run(),
            a_run(),
            a_run(m.dataworks(DELETE, row(1, "equal"), None, 3, (0, 3))),
        ],
        ["equal"],
        kept=[0, 1, 2],
    ),
]

HALVES = [
    Case(
        "a_first_event_may_have_taken_an_older_row_away",
        "shareplex_json",
        lambda m: _shared_key(m),
        {1: "came", 3: "left"},
        first_events={1: 1000},
    ),
]

CASES = CANAL + DTS + REDELIVERIES + HALVES


def _shared_key(m: Messages) -> list[list[Commit]]:
    """In a transaction row 2 comes to key 1, whose row leaves it for key 3, at an earlier time."""
    came = m.shareplex(
        UPDATE, row(2, "came"), row(1, "came"), Place(3, TS + 6000, "t", 1, 2), offset=2
    )
    left = m.shareplex(
        UPDATE, row(1, "left"), row(3, "left"), Place(4, TS + 1000, "t", 2, 2), offset=4
    )
    return [
        a_run(
            *m.shareplex(INSERT, None, row(1, "left"), Place(1, TS + 5000, "s"), offset=0),
            *m.shareplex(INSERT, None, row(2, "came"), Place(2, TS + 5000, "r"), offset=1),
            came[1],
            *left,
        ),
        a_run(came[0]),
    ]


# -- runs ----------------------------------------------------------------------------------------

Marts = dict[str, list[str]]


@dataclass(frozen=True)
class Outcome:
    """The marts after the runs, and after upkeep and a rebuild."""

    after_runs: Marts
    rebuilt: Marts
    #: Table -> its rows, as key (or nothing) and value.
    states: dict[str, list[tuple[int, str]]]
    first_events: dict[str, dict[int, dt.datetime]]
    #: Table -> offsets of its events.
    offsets: dict[str, list[int]]
    #: Table -> events that share a sequence with another.
    places_shared: dict[str, int]


@pytest.fixture(scope="module")
def outcome(project: Project) -> Outcome:
    keys = {"shareplex_json": {case.table_id: ["id"] for case in HALVES}}
    tables = {"tables": with_keys(keys)}

    def run(*options: str, **more: Any) -> None:
        without_typed_marts = ("--exclude", "path:models/marts/typed")
        project.dbt("run", *options, *without_typed_marts, "--vars", json.dumps(tables | more))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ops, "source_ops", _without_newer_codes(ops.source_ops))
        for number in range(RUNS - 1):
            _land(project, number)
            run()
    _land(project, RUNS - 1)
    run()
    run(requeue=True)
    after_runs = _marts(project)
    states = _states(project)
    first_events = _first_events(project)
    _maintain(project)
    run("--full-refresh")
    events = project.rows(
        "select table_name, offset, count(*) over (partition by table_id, `sequence`) as shared"
        " from marts.change_events"
    )
    return Outcome(
        after_runs,
        _marts(project),
        states,
        first_events,
        {
            case.name: sorted(e["offset"] for e in events if e["table_name"] == case.name)
            for case in CASES
        },
        {
            case.name: sum(e["shared"] - 1 for e in events if e["table_name"] == case.name)
            for case in CASES
        },
    )


@pytest.mark.parametrize("mart", MARTS)
def test_runs_and_a_rebuild_give_the_same_mart(outcome: Outcome, mart: str) -> None:
    assert outcome.after_runs[mart] == outcome.rebuilt[mart]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_are_those_of_the_table(outcome: Outcome, case: Case) -> None:
    if isinstance(case.rows, Mapping):
        assert dict(outcome.states[case.name]) == dict(case.rows)
    else:
        assert [value for _, value in outcome.states[case.name]] == list(case.rows)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_two_events_share_a_place(outcome: Outcome, case: Case) -> None:
    assert outcome.places_shared[case.name] == 0


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.kept is not None], ids=lambda case: case.name
)
def test_of_an_event_that_comes_twice_the_first_landed_copy_counts(
    outcome: Outcome, case: Case
) -> None:
    assert outcome.offsets[case.name] == list(case.kept or ())


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.first_events], ids=lambda case: case.name
)
def test_the_first_event_is_the_first_of_all_that_wrote_the_key(
    outcome: Outcome, case: Case
) -> None:
    expected = {
        key: dt.datetime.fromtimestamp((TS + millis) / 1000, dt.timezone.utc).replace(tzinfo=None)
        for key, millis in (case.first_events or {}).items()
    }
    assert outcome.first_events[case.name].items() >= expected.items()


def _without_newer_codes(
    known: Callable[[str], dict[str, Any]],
) -> Callable[[str], dict[str, Any]]:
    def older(source_format: str) -> dict[str, Any]:
        newer = NEWER_CODES.get(source_format)
        return {code: meaning for code, meaning in known(source_format).items() if code != newer}

    return older


def _land(project: Project, number: int) -> None:
    """The commits of all cases for a run, the first with the first."""
    by_case = [(case, _commits(case, number)) for case in CASES]
    for index in range(max(len(commits) for _, commits in by_case)):
        messages: dict[str, list[Landed]] = {}
        for case, commits in by_case:
            if index < len(commits):
                messages.setdefault(case.source_format, []).extend(commits[index])
        landed_at = LANDED_AT - dt.timedelta(hours=number, minutes=index)
        for source_format, landed in messages.items():
            project.land(source_format, landed, landed_at)


def _commits(case: Case, number: int) -> Sequence[Commit]:
    runs = case.runs(case.messages)
    return runs[number] if number < len(runs) else []


def _maintain(project: Project) -> None:
    with commands_use(project.spark):
        result = run_command("maintain", "--keep-days", "0")
    assert result.exit_code == 0, result.output
    assert project.spark.table("landing.canal_json.files").count() == 1


def _marts(project: Project) -> Marts:
    return {mart: content(project.spark, f"marts.{mart}") for mart in MARTS}


def _states(project: Project) -> dict[str, list[tuple[int, str]]]:
    rows = project.rows(
        "select table_name, `row`:id::int as id, `row`:v::string as v, row_count"
        " from marts.latest_state"
    )
    return {
        case.name: [
            (found["id"], found["v"])
            for found in rows
            if found["table_name"] == case.name
            for _ in range(found["row_count"])
        ]
        for case in CASES
    }


def _first_events(project: Project) -> dict[str, dict[int, dt.datetime]]:
    rows = project.rows(
        "select table_name, `row`:id::int as id, first_event_at from marts.latest_state"
    )
    return {
        case.name: {
            found["id"]: found["first_event_at"]
            for found in rows
            if found["table_name"] == case.name
        }
        for case in CASES
    }
