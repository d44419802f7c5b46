"""Messages leave landing, and the marts stay those that they would be with them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.spark_session.api import commit_watermarks
from pyspark.sql import SparkSession
from pyspark.sql.readwriter import DataFrameWriterV2
from stored_bytes import files_with

from cdc_marts.operations.erasure import Erasure, Found
from cdc_marts.operations.retention import PROPERTY
from cdc_marts.project.inventory import descendants
from cdc_marts.project.target import PROJECT_FILE, Target
from cdc_marts.scaffold import DESCRIPTIONS
from tests.python.end_to_end import test_erase as erasing
from tests.python.harness.commands import run_command
from tests.python.harness.copied_project import copy_without_tables
from tests.python.harness.project import LANDED_AT, Landed, Project, content
from tests.python.samples import declarations
from tests.python.samples.files import samples

#: Ordered by landing, with quarantined messages; with updates in halves; with keys that are set.
FORMATS = ("canal_json", "dataworks_json", "lindorm_debezium")
NOW = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None, microsecond=0)
#: What all that follows is made from, and what counts it.
TABLES = (
    *(f"staging.stg_{source_format}" for source_format in FORMATS),
    "intermediate.int_pending_halves",
    *("marts.change_events", "marts.quarantined_messages", "marts.message_ledger"),
)
RUN = (
    *("run", "--select", "+message_ledger +change_events +int_split_key_changes"),
    *("quarantined_messages", "int_message_counts"),
)
LEDGER = ("test", "--select", "test_name:ledger_balances")
#: Commits are numbered over all of a table, also those that remove messages.
UNLIKE = ("removed", "landing_commit")
LAST_KEY = json.dumps({"id": erasing.LAST_KEY}).encode()
#: Of the old messages this one lands late, between offsets that were removed.
LATE = 3
OLD = "landed_at < timestamp '2026-02-01'"
WITHOUT = ("--vars", "without_removed_messages: true")
OTHER_TARGET = "other_staging"

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("command_line")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the setting."""
    folder = copy_without_tables(tmp_path_factory.mktemp("retention"))
    set_retention(folder, {"landing": "30 days"})
    return folder


def set_retention(folder: Path, retention: dict[str, str]) -> None:
    """In a copy of the project, which no typed mart has."""
    descriptions = folder / DESCRIPTIONS
    text = descriptions.read_text("utf-8")
    descriptions.write_text(text.replace("models:\n", "models: []\n"), "utf-8")
    settings = yaml.safe_load((folder / PROJECT_FILE).read_text("utf-8"))
    settings["vars"]["retention"] = retention
    (folder / PROJECT_FILE).write_text(yaml.safe_dump(settings), "utf-8")


def maintain(folder: Path, *arguments: str) -> Any:
    options = ("--project-dir", str(folder), "--profiles-dir", str(folder / "profiles"))
    return run_command("maintain", *options, *arguments)


def asked_for(folder: Path) -> list[str]:
    """Return the formats for which a maintenance asks before it removes messages."""
    refused = maintain(folder)
    assert refused.exit_code == 1, refused.output
    return [name for name in FORMATS if f"landing.{name}: " in refused.output]


def shares() -> dict[str, tuple[list[Landed], list[Landed], list[Landed]]]:
    """Format -> its samples: old ones, one that is late, and new ones."""
    found = {}
    for source_format in FORMATS:
        messages = [
            Landed(m.topic, m.offset, m.value, m.key, m.partition) for m in samples(source_format)
        ]
        cut = len(messages) * 2 // 3
        broken = [Landed("broken", offset, b"{") for offset in range(2)]
        old = [*messages[:LATE], *messages[LATE + 1 : cut], *broken]
        found[source_format] = (old, [messages[LATE]], messages[cut:])
    return found


def land(project: Project, share: int, landed_at: dt.datetime) -> None:
    for source_format, messages in shares().items():
        project.land(source_format, messages[share], landed_at)


def tables_of(project: Project) -> dict[str, list[str]]:
    return {table: content(project.spark, table, UNLIKE) for table in TABLES}


def count(project: Project, query: str) -> int:
    [row] = project.rows(f"select count(*) as count from {query}")
    return int(row["count"])


@pytest.fixture(scope="module")
def expected(project: Project) -> list[dict[str, list[str]]]:
    """The tables after each of three runs, when nothing is removed from landing."""
    found = []
    for share, landed_at in ((0, LANDED_AT), (2, NOW), (1, NOW)):
        land(project, share, landed_at)
        project.dbt(*RUN)
        found.append(tables_of(project))
    project.empty()
    return found


@pytest.fixture(scope="module")
def shortened(project: Project, folder: Path, expected: list[Any]) -> Project:
    """Two runs, a maintenance that nobody confirmed, and two that were killed."""
    for share, landed_at in ((0, LANDED_AT), (2, NOW)):
        land(project, share, landed_at)
        project.dbt(*RUN)
    old = {name: count(project, f"landing.{name} where {OLD}") for name in FORMATS}

    refused = maintain(folder)
    assert refused.exit_code == 1, refused.output
    assert "staging.stg_canal_json" in refused.output
    assert "can't be built from landing alone any more" in refused.output
    assert "run `cdc-marts maintain --yes` once by hand" in refused.output
    assert all(f"marts.{mart}" in refused.output for mart in ("change_events", "row_history"))
    assert count(project, "landing.removed_messages") == 0

    for source_format in FORMATS:
        reader = f"{OTHER_TARGET}.stg_{source_format}"
        project.spark.sql(f"create namespace if not exists {OTHER_TARGET}")
        project.spark.sql(f"create table {reader} (topic string)")
        commit_watermarks(project.spark, reader, {f"landing.{source_format}": 1})
    shared = maintain(folder, "--yes")
    assert shared.exit_code == 0, shared.output
    for source_format in FORMATS:
        reader = f"{OTHER_TARGET}.stg_{source_format}"
        assert f"landing.{source_format} keeps its messages, because" in shared.output
        assert reader in shared.output
        assert count(project, f"landing.{source_format} where {OLD}") == old[source_format]
        project.spark.sql(f"drop table {reader} purge")

    # Killed before it has noted the messages: nothing was removed, so it asks again.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DataFrameWriterV2, "append", lambda _: erasing.interrupt())
        assert maintain(folder, "--yes").exit_code != 0
    for source_format in FORMATS:
        properties = project.rows(f"show tblproperties landing.{source_format}")
        assert PROPERTY not in {row["key"] for row in properties}
    assert asked_for(folder) == [*FORMATS]

    # Killed before it deletes the messages.
    with pytest.MonkeyPatch.context() as patch:
        sql = SparkSession.sql

        def interrupted(self: SparkSession, text: str, *arguments: Any, **options: Any) -> Any:
            if text.startswith("delete from landing.dataworks_json"):
                raise KeyboardInterrupt
            return sql(self, text, *arguments, **options)

        patch.setattr(SparkSession, "sql", interrupted)
        patch.setattr(type(project.spark), "sql", interrupted)
        assert maintain(folder, "--yes").exit_code != 0
    assert count(project, f"landing.dataworks_json where {OLD}") == old["dataworks_json"]
    assert count(project, "landing.removed_messages where source_format = 'dataworks_json'") > 0
    assert tables_of(project) == expected[1]
    assert "dataworks_json" in asked_for(folder) and "canal_json" not in asked_for(folder)
    project.dbt(*RUN, "--full-refresh")
    assert tables_of(project) == expected[1]

    done = maintain(folder, "--yes", "--keep-days", "0")
    assert done.exit_code == 0, done.output
    [line] = [
        line for line in done.output.splitlines() if line.startswith("landing.dataworks_json  ")
    ]
    rows = count(project, "landing.dataworks_json")
    assert (
        f"rows {rows + old['dataworks_json'] - left(project, 'dataworks_json')} -> {rows}" in line
    )
    return project


def left(project: Project, source_format: str) -> int:
    return count(project, f"landing.{source_format} where {OLD}")


def test_only_quarantined_and_newest_messages_stay(shortened: Project) -> None:
    project = shortened
    for source_format in FORMATS:
        stays = project.rows(
            f"""
            select landed.topic, landed.`partition`, landed.offset,
                landed.offset = max(landed.offset)
                    over (partition by landed.topic, landed.`partition`) as is_newest,
                landed.landed_at,
                staged.record_type
            from landing.{source_format} as landed
            inner join staging.stg_{source_format} as staged
                using (topic, `partition`, offset)
            where staged.row_index = 0
            """
        )
        old = [row for row in stays if row["landed_at"] == LANDED_AT]
        assert old, source_format
        assert all(row["is_newest"] or row["record_type"] == "rejected" for row in old)
        kinds = {
            row["operation"]
            for row in project.rows(f"select operation from landing.{source_format}.snapshots")
        }
        assert "delete" in kinds and "overwrite" not in kinds, source_format
        assert [(row["topic"], row["offset"]) for row in old if not row["is_newest"]].count(
            ("broken", 0)
        ) == 1


def test_the_marts_stay_and_runs_go_on(
    shortened: Project, expected: list[dict[str, list[str]]], folder: Path
) -> None:
    project = shortened
    assert tables_of(project) == expected[1]
    [ledger] = project.rows("select sum(removed) as removed from marts.message_ledger")
    assert ledger["removed"] > 100
    status = run_command("status")
    assert status.exit_code == 0, status.output

    staged = {name: snapshot(project, f"staging.stg_{name}") for name in FORMATS}
    project.dbt(*RUN)
    assert {name: snapshot(project, f"staging.stg_{name}") for name in FORMATS} == staged

    # A message between removed ones; and all old ones land again, which changes nothing.
    land(project, 1, NOW)
    land(project, 0, NOW)
    project.dbt(*RUN)
    assert tables_of(project) == expected[2]
    project.dbt(*RUN, "--vars", "requeue: true")
    assert tables_of(project) == expected[2]
    again = maintain(folder, "--keep-days", "0")
    assert again.exit_code == 0, again.output
    project.dbt(*LEDGER)


def test_a_full_refresh_keeps_what_staging_has(
    shortened: Project, expected: list[dict[str, list[str]]]
) -> None:
    project = shortened
    project.dbt(*RUN, "--full-refresh")
    assert tables_of(project) == expected[2]


def test_an_empty_full_refresh_stops_before_it_loses_what_staging_has(shortened: Project) -> None:
    project = shortened
    before = tables_of(project)["staging.stg_canal_json"]
    with pytest.raises(AssertionError, match="with --empty would lose rows") as error:
        project.dbt("run", "--empty", "--full-refresh", "--select", "stg_canal_json")
    assert "--vars 'without_removed_messages: true'" in str(error.value)
    assert tables_of(project)["staging.stg_canal_json"] == before

    project.dbt("run", "--empty", "--select", "stg_canal_json")
    assert tables_of(project)["staging.stg_canal_json"] == before


def test_rows_that_can_not_be_read_again_stop_a_full_refresh(shortened: Project) -> None:
    project = shortened
    build = ("run", "--full-refresh", "--select", "stg_lindorm_debezium")
    keys = dict(declarations.TABLES)
    keys["lindorm_customers"] = {**keys["lindorm_customers"], "key": ["name"]}
    with pytest.raises(AssertionError, match="were set differently") as error:
        project.dbt(*build, "--vars", json.dumps({"tables": keys}))
    assert "--vars 'without_removed_messages: true'" in str(error.value)

    project.spark.sql("drop table staging.stg_lindorm_debezium")
    with pytest.raises(AssertionError, match="removed older messages from") as error:
        project.dbt("run", "--select", "stg_lindorm_debezium+")
    assert "--vars 'without_removed_messages: true'" in str(error.value)

    project.dbt(*RUN, "--full-refresh", *WITHOUT)
    [ledger] = project.rows("select sum(removed) as removed from marts.message_ledger")
    assert ledger["removed"] == 0
    project.dbt(*LEDGER)
    project.dbt(*RUN, "--full-refresh")


def test_a_wrong_setting_stops_maintenance(project: Project, tmp_path: Path) -> None:
    folder = copy_without_tables(tmp_path / "wrong")
    set_retention(folder, {"staging": "30 days"})
    before = project.rows("select * from landing.canal_json.snapshots")
    stopped = maintain(folder, "--yes")
    assert stopped.exit_code == 2
    assert "The setting `retention` can't name `staging`" in stopped.output
    assert project.rows("select * from landing.canal_json.snapshots") == before


@pytest.fixture
def people(project: Project) -> Project:
    project.empty()
    return project


def test_a_row_of_removed_messages_is_erased(
    people: Project, folder: Path, spark_home: Path
) -> None:
    project = people
    formats = ("canal_json", "cdl_debezium_json")
    messages = {name: erasing.messages(name, erasing.history(name)) for name in formats}
    for source_format in formats:
        project.land(source_format, messages[source_format][:-1])
    project.dbt(*RUN)
    for source_format in formats:
        # The last one is not removed, and neither are later ones.
        later = erasing.messages(source_format, list(erasing.LATER), first=100)
        tombstone = Landed("people", 99, None, LAST_KEY)
        project.land(source_format, [*messages[source_format][-1:], tombstone, *later], NOW)
    project.dbt(*RUN)
    others = other_rows(project)
    assert maintain(folder, "--yes").exit_code == 0
    assert count(project, "landing.removed_messages") > 0

    for source_format in formats:
        erase(project, source_format)

    assert files_with(spark_home, erasing.SECRETS) == []
    assert other_rows(project) == others
    assert erasing.balanced(project)
    tables = tables_of(project)
    project.dbt(*RUN, "--full-refresh")
    assert tables_of(project) == tables


def test_an_erasure_of_other_rows_does_not_complete_an_interrupted_one(
    people: Project, folder: Path, spark_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = people
    messages = erasing.messages("canal_json", erasing.history("canal_json"))
    project.land("canal_json", messages[:2])
    project.dbt(*RUN)
    # The change of the key stays in landing; the row before it does not.
    project.land("canal_json", messages[2:], NOW)
    project.dbt(*RUN)
    assert maintain(folder, "--yes").exit_code == 0
    erasure = Erasure(project.spark, "canal_json", "shop.people")
    first, last, other = (
        json.dumps({"id": id_}, separators=(",", ":"))
        for id_ in (erasing.FIRST_KEY, erasing.LAST_KEY, "b")
    )

    with monkeypatch.context() as patch:
        patch.setattr(
            "cdc_marts.operations.erasure.redact_irreplaceable_rows",
            lambda *_: erasing.interrupt(),
        )
        with pytest.raises(KeyboardInterrupt):
            complete(project, erasure, last)
    options = ("--project-dir", str(folder), "--profiles-dir", str(folder / "profiles"))
    table = ("--format", "canal_json", "--table", "shop.people", "--key", other)
    shown = run_command("erase", *table, *options, "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert "this command does not complete it: repeat it too" in shown.output
    complete(project, erasure, other)

    note = "An erasure of rows in landing.canal_json (shop.people, begun at"
    assert note in run_command("status").output
    assert project.rows(f"select 1 from marts.change_events where row_key = '{first}'")
    assert complete(project, erasure, last).row_keys == [last, first]
    assert note not in run_command("status").output
    assert files_with(spark_home, erasing.SECRETS) == []
    assert erasing.balanced(project)


def erase(project: Project, source_format: str) -> None:
    table_id, row_key = project.spark.sql(
        f"select table_id, row_key from staging.stg_{source_format}"
        f" where row_key like '%{erasing.LAST_KEY}%' limit 1"
    ).collect()[0]
    found = complete(project, Erasure(project.spark, source_format, table_id), row_key)
    assert found.whole and (found.shared or source_format != "canal_json")


def complete(project: Project, erasure: Erasure, row_key: str) -> Found:
    """Erase a row, and return what was found of it."""
    found = erasure.find([row_key])
    erasure.erase(found, True, lambda: project.dbt(*RUN, "--full-refresh"))
    made = descendants(Target.find("local"), erasure.source_format).tables
    assert erasure.forget(found, made, is_alone=True) == []
    return found


def other_rows(project: Project) -> list[str]:
    """The events of other rows."""
    return [row for row in content(project.spark, "marts.change_events") if "Qzebra" not in row]


def snapshot(project: Project, table: str) -> Any:
    [row] = project.rows(f"select count(*) as count from {table}.snapshots")
    return row["count"]
