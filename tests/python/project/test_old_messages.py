"""Old messages leave landing only if nothing else reads them, and if somebody has confirmed it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.operations import old_messages as module
from cdc_marts.operations.maintenance_plan import MaintenancePlan
from cdc_marts.operations.old_messages import Decision, OldMessages
from cdc_marts.operations.retention import Removal, RetentionError
from cdc_marts.operations.stored_tables import TableCounts
from cdc_marts.relations import OWN
from cdc_marts.source_formats import SOURCE_FORMATS

NOW = dt.datetime(2026, 11, 29, tzinfo=dt.timezone.utc)
COUNTS = TableCounts(files=1, snapshots=1, size=1, rows=1)
CANAL, CDL, DTS, LINDORM = (
    f"landing.{name}" for name in ("canal_json", "cdl_json", "dts_avro", "lindorm_debezium")
)
#: A table of another target reads the first one, and a model of the project the second one.
READERS = {CANAL: ["dev.stg_canal_json"]}
DIRECT_READERS = {name: ["marts.raw"] if name == "cdl_json" else [] for name in SOURCE_FORMATS}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which messages are removed, without Spark; those of Lindorm not for the first time."""
    steps: list[str] = []
    removals = [removal(table, is_first=table != LINDORM) for table in (CANAL, CDL, DTS, LINDORM)]

    def found(*_: Any, only_first: bool) -> list[Removal]:
        return [removal for removal in removals if removal.is_first or not only_first]

    def remove(_: SparkSession, removal: Removal, *__: Any) -> None:
        steps.append(f"remove from {removal.landing}")

    def counts(*_: Any) -> TableCounts:
        steps.append("count")
        return COUNTS

    monkeypatch.setattr(module, "removals", found)
    monkeypatch.setattr(module, "remove", remove)
    monkeypatch.setattr(module, "other_readers", lambda *_: READERS)
    monkeypatch.setattr(TableCounts, "of", counts)
    return steps


@pytest.fixture
def messages() -> OldMessages:
    return old_messages(landing_days=30)


def old_messages(landing_days: int | None) -> OldMessages:
    session: Any = None
    return OldMessages(session, MaintenancePlan({}, landing_days, {}, DIRECT_READERS, OWN), NOW)


def removal(landing: str, is_first: bool) -> Removal:
    source_format = landing.partition(".")[2]
    blocks: Any = None
    return Removal(source_format, landing, "staging", NOW, 30, 9, is_first, blocks)


def test_the_first_removal_from_a_table_that_nothing_else_reads_is_to_confirm(
    messages: OldMessages, steps: list[str]
) -> None:
    assert [removal.landing for removal in messages.to_confirm()] == [DTS]
    assert steps == []


def test_models_that_read_landed_messages_are_looked_for_on_other_targets(
    messages: OldMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "other_readers", lambda *arguments: arguments)

    *_, landing, own_tables, own_readers = messages.other_readers()

    assert (landing, own_tables, [*own_readers]) == ("landing", {}, ["marts.raw"])


@pytest.mark.parametrize(
    ("confirmed", "removed"),
    [(None, [DTS, LINDORM]), ({DTS}, [DTS, LINDORM]), (set(), [LINDORM])],
    ids=["all", "one", "none"],
)
def test_messages_stay_that_others_read_or_that_nobody_confirmed(
    confirmed: Collection[str] | None, removed: list[str], messages: OldMessages, steps: list[str]
) -> None:
    decisions: list[Decision] = []

    def on_decision(decision: Decision) -> None:
        decisions.append(decision)
        steps.append(f"decide on {decision.removal.landing}")

    before = messages.remove(READERS, confirmed, on_decision, lambda: steps.append("check turn"))

    assert before == dict.fromkeys(removed, COUNTS)
    assert [decision.removal.landing for decision in decisions] == [CANAL, CDL, DTS, LINDORM]
    assert [list(decision.readers) for decision in decisions] == [
        ["dev.stg_canal_json"],
        ["marts.raw"],
        [],
        [],
    ]
    of_dts = ["count", "check turn", f"remove from {DTS}"] if DTS in removed else []
    assert steps == [
        f"decide on {CANAL}",
        f"decide on {CDL}",
        f"decide on {DTS}",
        *of_dts,
        f"decide on {LINDORM}",
        "count",
        "check turn",
        f"remove from {LINDORM}",
    ]
    assert decisions[2].is_unconfirmed == (DTS not in removed)


def test_messages_are_kept_for_ever_without_the_setting(steps: list[str]) -> None:
    messages = old_messages(landing_days=None)

    assert messages.to_confirm() == []
    assert messages.remove(READERS, None, lambda _: None) == {}
    assert steps == []


def test_a_table_whose_messages_can_not_be_removed_ends_the_removal(
    messages: OldMessages, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise RetentionError("format version 1")

    monkeypatch.setattr(module, "remove", refuse)
    with pytest.raises(RetentionError, match="format version 1"):
        messages.remove(READERS, None, lambda _: None)
    assert steps == ["count"]
