"""An erased row is in no file any more, a rebuild does not bring it back, and others stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from stored_bytes import files_with
from typer.testing import CliRunner

from cdc_marts.cli import app
from cdc_marts.erasure import Erasure
from cdc_marts.project import Target, descendants
from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import (
    INSERT,
    UPDATE,
    Change,
    Place,
    Row,
    RowChange,
    Statement,
    Table,
    one_by_one,
)
from tests.python.end_to_end.project import ROOT, Landed, Project, content

#: With several rows in a message, with halves of updates, with a delete, its tombstone and an
#: insert for a key change, in Avro, and without changes of keys.
FORMATS = ("canal_json", "dataworks_json", "cdl_debezium_json", "dts_avro", "lindorm_debezium")
CANAL = "canal_json"
MARTS = ("change_events", "latest_state", "row_history", "message_ledger")
PROMISES = (
    "test_name:ledger_balances",
    "test_name:state_equals_replay",
    "test_name:history_equals_state",
)
FIRST_KEY, LAST_KEY = "Vk1Qzebra", "Vk2Qzebra"
MAILS = ("mail0Qzebra", "mail1Qzebra", "mail2Qzebra")
SECRETS = (FIRST_KEY, LAST_KEY, *MAILS)
PEOPLE = Table("people", {"id": "text", "mail": "text"}, ("id",))
#: They show what the command says of this person.
PAGES = [ROOT / "docs" / "operations.md", ROOT / "docs" / "zh" / "operations.md"]
SECOND = 1_767_225_600_000

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("command_line")]


def person(id_: str, mail: str) -> Row:
    return {"id": id_, "mail": mail}


def history(source_format: str) -> list[Change]:
    """What happened: the person's row is inserted beside others, updated, and gets another key."""
    numbers = iter(range(1, 100))

    def change(kind: str, after: Row, before: Row | None = None) -> RowChange:
        return RowChange(kind, PEOPLE, place(next(numbers)), before, after)

    last_key = FIRST_KEY if source_format == "lindorm_debezium" else LAST_KEY
    before, updated = person(FIRST_KEY, MAILS[0]), person(FIRST_KEY, MAILS[1])
    moved = person(last_key, MAILS[1])
    changes: list[Change] = [
        statement(
            change(INSERT, person("a", "a0")),
            change(INSERT, before),
            change(INSERT, person("b", "b0")),
        ),
        change(UPDATE, updated, before),
    ]
    if moved != updated:
        changes.append(change(UPDATE, moved, updated))
    changes.append(
        statement(
            change(UPDATE, person("a", "a1"), person("a", "a0")),
            change(UPDATE, person(last_key, MAILS[2]), moved),
        )
    )
    return changes


LATER = [
    RowChange(UPDATE, PEOPLE, Place(200, SECOND + 200), person("a", "a1"), person("a", "a2")),
    RowChange(INSERT, PEOPLE, Place(201, SECOND + 201), None, person("c", "c0")),
]


def place(number: int) -> Place:
    return Place(number, SECOND + number, transaction=str(number))


def statement(*rows: RowChange) -> Statement:
    return Statement(rows)


def messages(source_format: str, changes: list[Change], first: int = 0) -> list[Landed]:
    if source_format != CANAL:
        changes = one_by_one(changes)
    encoded = [message for change in changes for message in ENCODE[source_format](change)]
    return [
        Landed("people", first + number, message.value, message.key)
        for number, message in enumerate(encoded)
    ]


@pytest.fixture
def landed(project: Project) -> Project:
    for source_format in FORMATS:
        sent = messages(source_format, history(source_format))
        # A message that landed twice, and one that nobody can read.
        project.land(source_format, [*sent, sent[0]])
    unreadable = json.dumps({"data": [person(LAST_KEY, MAILS[2])]}).encode()[:-1]
    project.land(CANAL, [Landed("people", 90, unreadable)])
    project.dbt("run")
    return project


def erase(*arguments: str) -> Any:
    key = json.dumps({"id": LAST_KEY})
    table = ("--format", CANAL, "--table", "shop.people", "--key", key)
    return CliRunner().invoke(app, ["erase", *table, *arguments])


def test_an_erased_row_is_in_no_file_and_other_rows_stay(
    landed: Project, spark: SparkSession, spark_home: Path
) -> None:
    project = landed
    others = others_of(project)
    assert live_rows(project) == dict.fromkeys(FORMATS, 3)
    shown = erase("--dry-run")
    assert shown.exit_code == 0, shown.output
    for page in PAGES:
        assert shown.output in page.read_text("utf-8"), f"{page}: not what the command shows"
    assert "lose their value and key: 2\n" in shown.output
    assert "lose these rows and keep others: 2\n" in shown.output
    refused = erase("--mentions")
    assert refused.exit_code == 1, "nobody confirmed"
    assert set(live_rows(project).values()) == {3}

    # Killed before and behind the rebuild, which is one for all formats here.
    erasures = {source_format: erasure_of(project, source_format) for source_format in FORMATS}
    for source_format, erasure in erasures.items():
        found = erasure.find([key_of(project, source_format)])
        with pytest.raises(KeyboardInterrupt):
            erasure.erase(found, with_mentions=False, rebuild=interrupt)
        assert erasure.is_unfinished
    project.dbt("run", "--full-refresh")
    assert set(live_rows(project).values()) == {2}
    result = erase("--yes", "--mentions")
    assert result.exit_code == 0, result.output
    assert "An earlier erasure was interrupted. This command completes it." in result.output
    for source_format in FORMATS[1:]:
        made = descendants(Target.find("local"), f"stg_{source_format}").tables
        erasure = erasures[source_format]
        built = [name for name in (erasure.landing, *made) if spark.catalog.tableExists(name)]
        assert erasure.forget(built, is_alone=True) == []
    assert not any(erasure.is_unfinished for erasure in erasures.values())

    assert files_with(spark_home, SECRETS) == []
    assert others_of(project) == others
    assert balanced(project)
    again = erase("--yes")
    assert again.exit_code == 1
    assert "No message that was read names a row" in again.output
    agree_with_a_rebuild(project)
    assert files_with(spark_home, SECRETS) == []


def agree_with_a_rebuild(project: Project) -> None:
    for source_format in FORMATS:
        project.land(source_format, messages(source_format, list(LATER), first=100))
    project.dbt("run")
    assert set(live_rows(project).values()) == {3}
    marts = marts_of(project)
    project.dbt("test", "--select", *PROMISES)
    project.dbt("run", "--full-refresh")
    assert marts_of(project) == marts


def erasure_of(project: Project, source_format: str) -> Erasure:
    [(table_id,)] = project.spark.sql(
        f"select distinct table_id from marts.latest_state where source_format = '{source_format}'"
    ).collect()
    return Erasure(project.spark, source_format, table_id)


def key_of(project: Project, source_format: str) -> str:
    [(row_key,)] = project.spark.sql(
        "select row_key from marts.latest_state"
        f" where source_format = '{source_format}' and row_key like '%Qzebra%'"
    ).collect()
    return str(row_key)


def interrupt() -> None:
    raise KeyboardInterrupt


def live_rows(project: Project) -> dict[str, int]:
    rows = project.rows("select source_format, row_key from marts.latest_state")
    return {
        source_format: sum(row["source_format"] == source_format for row in rows)
        for source_format in FORMATS
    }


def others_of(project: Project) -> dict[str, list[str]]:
    return {
        mart: [row for row in content(project.spark, f"marts.{mart}") if "Qzebra" not in row]
        for mart in MARTS
        if mart != "message_ledger"
    }


def marts_of(project: Project) -> dict[str, list[str]]:
    return {mart: content(project.spark, f"marts.{mart}") for mart in MARTS}


def balanced(project: Project) -> bool:
    ledger = project.rows("select * from marts.message_ledger")
    kinds = ("change", "update_before", "ddl", "transaction", "heartbeat", "tombstone", "rejected")
    return bool(ledger) and all(row["landed"] == sum(row[kind] for kind in kinds) for row in ledger)
