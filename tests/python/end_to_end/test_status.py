"""`cdc-marts status` says what landed, what waits and what was rejected, and reads no messages."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from typer.testing import Result

from cdc_marts.operations.status import Rejects
from cdc_marts.operations.status_gathering import gather
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.encoders import canal_json
from tests.python.encoders.changes import INSERT, Place, RowChange, Table
from tests.python.end_to_end.plans import executed
from tests.python.harness.commands import run_command
from tests.python.harness.project import Landed, Project
from tests.python.samples.files import samples

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("command_line")]

ORDERS = Table("orders", {"id": "long"}, ("id",), "shop")
#: It clears the screen, turns the direction of what follows, and begins a line of its own.
HOSTILE = "x\x1b[2J[bold]x[/bold]<script>\u202e\nTarget"
SHOWN = r"x\x1b[2J[bold]x[/bold]<script>\u202e\nTarget"
EVENT_AT = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)


@pytest.fixture(scope="module")
def built(project: Project) -> Project:
    """Good messages and bad ones were read, and half of an update; then two more landed."""
    assert "Messages were last read: never." in _status().output
    project.land("canal_json", [_change("shop", 0), _change("shop", 1), _change(HOSTILE, 0)])
    project.land("canal_json", [Landed("shop", 2, b"[]")])
    dataworks = [
        Landed(f"halves.{m.topic}", m.offset, m.value, m.key, m.partition)
        for m in samples("dataworks_json")
    ]
    second_half = next(
        m for m in dataworks if m.topic == "halves.shop" and b"UPDATE_AFTER" in (m.value or b"")
    )
    project.land("dataworks_json", [m for m in dataworks if m is not second_half])
    project.dbt("run")
    project.land("canal_json", [_change("shop", 3), _change("shop", 4)])
    return project


def test_topics_show_what_landed_waits_and_was_rejected(built: Project) -> None:
    topics = _topics()
    shop, hostile = topics["shop"], topics[HOSTILE]
    assert (shop["landed"], shop["waiting"], shop["read"]) == (5, 2, {"change": 2})
    assert {code: found["total"] for code, found in shop["rejects"].items()} == {
        "malformed_json": 1
    }
    assert (hostile["landed"], hostile["waiting"], hostile["rejects"]) == (1, 0, {})
    assert shop["last_event_at"] == EVENT_AT.isoformat(timespec="seconds")


def test_the_numbers_are_those_of_the_ledger(built: Project) -> None:
    ledger = built.rows(
        "select topic, sum(landed) as landed, sum(waiting) as waiting, sum(`change`) as `change`,"
        " sum(rejected) as rejected, sum(update_before) as update_before,"
        " sum(pending_update_before) as pending from marts.message_ledger group by topic"
    )
    topics = _topics()
    assert sum(row["pending"] for row in ledger) == 1
    assert sum(topic["statements_not_applied"] for topic in topics.values()) == 1
    for row in ledger:
        topic = topics[row["topic"]]
        assert topic["landed"] == row["landed"] + row["waiting"]
        assert topic["waiting"] == row["waiting"]
        assert topic["rejected"] == row["rejected"]
        assert topic["pending_update_before"] == row["pending"]
        assert topic["read"].get("change", 0) == row["change"]
        assert topic["read"].get("update_before", 0) == row["update_before"]


def test_names_from_messages_are_shown_escaped(built: Project) -> None:
    found = _status()
    assert found.exit_code == 0, found.output
    assert "\x1b" not in found.output
    assert "\u202e" not in found.output
    assert "\nTarget" not in found.output
    assert SHOWN in found.output
    printed = _status("--json").output
    assert "\x1b" not in printed
    assert "<script>" not in printed


def test_freshness_warns_of_formats_in_use_alone(built: Project) -> None:
    """All that landed did so long ago; of the other formats nothing ever landed."""
    checked = built.dbt("source", "freshness")
    # Runs of hooks are results too.
    sources = [found for found in checked.results if found.node.resource_type == "source"]
    statuses = {found.node.name: str(found.status) for found in sources}
    in_use = dict.fromkeys(("canal_json", "dataworks_json"), "warn")
    assert statuses == {**dict.fromkeys(SOURCE_FORMATS, "pass"), **in_use}


def test_no_messages_are_read(built: Project) -> None:
    before = executed(built.spark).keys()

    _topics()

    plans = executed(built.spark)
    asked = [plans[number] for number in plans.keys() - before]
    scans = [line for plan in asked for line in plan.splitlines() if "BatchScan" in line]
    staged = [plan for plan in asked if "staging.stg_" in plan]
    assert scans
    assert not any("value#" in plan for plan in asked)
    # Of staging only the partition of rejected messages.
    assert staged
    assert all("record_type = 'rejected'" in plan for plan in staged)


def test_a_threshold_that_is_passed_ends_with_1_and_a_sentence(built: Project) -> None:
    within = _status("--max-rejects", "100")
    assert within.exit_code == 0, within.output

    passed = _status("--max-rejects", "0", "--max-lag", "2h")

    assert passed.exit_code == 1
    assert "1 message is quarantined of shop (canal_json), more than 0." in passed.output
    assert "The newest event of shop (canal_json) is " in passed.output
    assert "old, more than 2h." in passed.output
    breaches = json.loads(_status("--json", "--max-rejects", "0").output)["breaches"]
    assert "1 message is quarantined of shop (canal_json), more than 0." in breaches
    assert _status("--max-lag", "soon").exit_code == 2


def test_nothing_waits_after_the_next_run_and_its_rejects_are_new(built: Project) -> None:
    built.land("canal_json", [Landed("shop", 5, b"[]"), Landed("shop", 6, b'{"database": "shop"}')])
    built.dbt("run")

    status = gather(built.spark, "local")

    assert status.last_run is not None
    assert (status.last_run.command, status.last_run.failed) == ("dbt run", ())
    assert status.notes == []
    shop = next(topic for topic in status.topics if topic.topic == "shop")
    assert (shop.landed, shop.waiting, shop.read) == (7, 0, {"change": 4})
    assert shop.rejects == {
        "malformed_json": Rejects(total=2, new=1),
        "missing_field": Rejects(total=1, new=1),
    }
    assert (
        "shop (canal_json): 3 rejected, 2 of them new in the last run: 2 malformed_json (1 new),"
        " 1 missing_field (1 new)"
    ) in _status().output


def test_a_run_is_in_the_history_with_its_models(built: Project) -> None:
    last, before = built.rows("select * from marts.runs order by started_at desc limit 2")
    models = built.rows(
        "select relation_name, status, materialized, rows_written from marts.model_runs"
        f" where run_id = '{last['run_id']}'"
    )

    assert last["command"] == "run"
    assert last["outcome"] == "succeeded"
    assert last["target_name"] == "local"
    assert last["started_at"] > before["ended_at"]
    assert {row["status"] for row in models} == {"success"}
    written = {row["relation_name"]: row["rows_written"] for row in models}
    # Two messages that waited and two that landed; none of DataWorks; a view has no rows.
    assert written["staging.stg_canal_json"] == 4
    assert written["staging.stg_dataworks_json"] == 0
    assert written["marts.latest_state"] is None


def test_a_run_that_left_no_results_is_told_of(built: Project) -> None:
    last_run = "select max_by(run_id, started_at) from landing.run_results"
    built.spark.sql(f"delete from landing.run_results where run_id = ({last_run})")

    assert gather(built.spark, "local").notes == [
        "A run read messages after the last one had ended: it still works or was killed."
    ]


@pytest.mark.parametrize("option", [("--vars", "requeue: true"), ("--full-refresh",)])
def test_rejects_that_were_only_written_anew_are_not_new(
    built: Project, option: tuple[str, ...]
) -> None:
    built.dbt("run", "--select", "stg_canal_json", *option)

    status = gather(built.spark, "local")

    [shop] = (topic for topic in status.topics if topic.topic == "shop")
    assert shop.rejects
    assert {rejects.new for rejects in shop.rejects.values()} == {None}
    assert "new in the last run" not in _status().output


def _change(topic: str, offset: int) -> Landed:
    place = Place(offset, int(EVENT_AT.timestamp() * 1000))
    [message] = canal_json.encode(RowChange(INSERT, ORDERS, place, None, {"id": offset}))
    return Landed(topic, offset, message.value)


def _status(*options: str) -> Result:
    return run_command("status", *options)


def _topics() -> dict[str, dict[str, Any]]:
    found = _status("--json")
    assert found.exit_code == 0, found.output
    return {topic["topic"]: topic for topic in json.loads(found.stdout)["topics"]}
