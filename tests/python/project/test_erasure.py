"""An erasure does its steps in order, and says what to do if it can't do its work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from dbt.adapters.spark_session.api import SessionError
from pyspark.sql import SparkSession

from cdc_marts.operations import erasure as module
from cdc_marts.operations.erasure import (
    Erasure,
    ErasureError,
    Found,
    Interrupted,
    Leftovers,
)
from cdc_marts.operations.erasure.progress import Note
from cdc_marts.project.inventory import Descendants
from cdc_marts.project.target import Target
from cdc_marts.relations import Relations

TARGET = Target("local", Path(), Path())
MADE = Descendants(["marts.latest_state"], ["snapshots.people"], ["source:landing.canal_json+"])
FOUND = Found([], [], [], [], [], [], [], [])
NOTE = Note("cdc_marts.unfinished-erasure", None, None)
KEY = '{"id":"1"}'


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What an erasure does, without Spark and dbt."""
    steps: list[str] = []

    def erase(_: Erasure, found: Found, with_mentions: bool, rebuild: Callable[[], None]) -> None:
        steps.append("erase messages")
        rebuild()

    def forget(
        _: Erasure,
        found: Found,
        made: Sequence[str],
        is_alone: bool,
        check_turn: Callable[[], None],
    ) -> list[str]:
        check_turn()
        steps.append(f"forget {', '.join(made)}")
        return ["landing.canal_json: kept"]

    def are_back(*_: Any) -> bool:
        steps.append("look for rows")
        return True

    @contextmanager
    def only_run(*_: Any) -> Iterator[Callable[[], None]]:
        steps.append("lock")
        yield lambda: steps.append("check the lock")
        steps.append("unlock")

    monkeypatch.setattr(Erasure, "erase", erase)
    monkeypatch.setattr(Erasure, "forget", forget)
    monkeypatch.setattr(Erasure, "are_back", are_back)
    monkeypatch.setattr(module, "only_run", only_run)
    monkeypatch.setattr(module, "run_dbt", lambda command, *_: steps.append(" ".join(command)))
    monkeypatch.setattr(module, "is_embedded", lambda _: True)
    monkeypatch.setattr(module, "built_tables", lambda _: {})
    monkeypatch.setattr(module, "split_tables", lambda *_: ([], ["marts.copy"]))
    of_others = {"landing.canal_json": ["dev.stg_canal_json"], "landing.cdl_json": ["dev.other"]}
    monkeypatch.setattr(module, "other_readers", lambda *_: of_others)
    return steps


def test_older_snapshots_go_under_the_lock_and_rows_are_looked_for_at_last(
    spark: SparkSession, steps: list[str]
) -> None:
    erasure = Erasure(spark, "canal_json", "shop.people")

    leftovers = erasure.erase_everywhere(FOUND, False, MADE, TARGET, steps.append)

    assert steps == [
        "erase messages",
        "run --full-refresh --select source:landing.canal_json+",
        "lock",
        "check the lock",
        "forget marts.latest_state",
        "unlock",
        "look for rows",
    ]
    assert leftovers == Leftovers(
        references=["landing.canal_json: kept"],
        tables=["snapshots.people", "marts.copy"],
        of_other_targets=["dev.stg_canal_json"],
        are_back=True,
    )


@pytest.mark.parametrize(
    ("unread", "interrupted", "runs"),
    [
        (3, Interrupted([], []), ["run --select source:landing.canal_json+"]),
        (0, Interrupted([], []), []),
        # The rebuild that completes the erasure reads them.
        (3, Interrupted([NOTE], []), []),
        # But they may contain these rows too.
        (3, Interrupted([], [NOTE]), ["run --select source:landing.canal_json+"]),
    ],
)
def test_messages_that_wait_are_read_first(
    unread: int,
    interrupted: Interrupted,
    runs: list[str],
    spark: SparkSession,
    steps: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Erasure, "check_is_built", lambda _: None)
    monkeypatch.setattr(Erasure, "interrupted", lambda *_: interrupted)
    monkeypatch.setattr(module, "unread_rows", lambda *_: (1, unread))

    Erasure(spark, "canal_json", "shop.people").read_waiting([KEY], MADE, TARGET)

    assert steps == runs


def test_the_past_of_a_table_stays_after_the_lock_is_lost(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[str] = []
    monkeypatch.setattr(module, "needed_snapshots", lambda _, tables: MagicMock())
    monkeypatch.setattr(module, "forget_past", lambda _, table, *__: forgotten.append(table) or [])
    spark.sql("create namespace erased")
    made = [f"erased.{name}" for name in ("a", "b", "c")]
    for table in made:
        spark.sql(f"create table {table} (id int)")

    def check_turn() -> None:
        if len(forgotten) == 2:
            raise SessionError("another run")

    try:
        with pytest.raises(SessionError, match="another run"):
            Erasure(spark, "canal_json", "shop.people").forget(FOUND, made, False, check_turn)
    finally:
        for table in made:
            spark.sql(f"drop table {table} purge")
        spark.sql("drop namespace erased")
    # The landing table comes first if another test has made it.
    assert len(forgotten) == 2
    assert made[2] not in forgotten


def test_messages_behind_a_view_are_erased_in_its_table(spark: SparkSession) -> None:
    spark.sql("create namespace erased")
    spark.sql("create table erased.messages (value binary)")
    spark.sql("create table erased.stg_canal_json (topic string)")
    spark.sql("create view erased.canal_json as select * from erased.messages")
    relations = Relations({"stg_canal_json": "erased.stg_canal_json"}, "erased")
    try:
        with pytest.raises(ErasureError, match=r"erased\.canal_json is a view") as raised:
            Erasure(spark, "canal_json", "shop.orders", relations).find([KEY])
    finally:
        spark.sql("drop view erased.canal_json")
        for table in ("messages", "stg_canal_json"):
            spark.sql(f"drop table erased.{table} purge")
        spark.sql("drop namespace erased")
    assert "--full-refresh --select source:cdc_marts.landing.canal_json+" in str(raised.value)
