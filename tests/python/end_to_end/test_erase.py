"""An erased row is in no file any more, a rebuild does not bring it back, and others stay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession
from stored_bytes import files_with

from cdc_marts.operations.erasure import Erasure, ErasureError
from cdc_marts.operations.erasure.keys import compact_key
from cdc_marts.project.inventory import descendants
from cdc_marts.project.target import PROJECT_FILE, Target
from cdc_marts.source_formats import SOURCE_FORMATS
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
from tests.python.harness.commands import run_command
from tests.python.harness.copied_project import (
    add_typed_marts,
    copy_without_tables,
)
from tests.python.harness.manifest import ROOT
from tests.python.harness.project import Landed, Project, content

CANAL = "canal_json"
#: That of the command, whose messages hold several rows, and the others.
FORMATS = (CANAL, *(name for name in SOURCE_FORMATS if name != CANAL))
#: Tables that the project declares: one has a typed mart, and the messages of the others name no
#: key.
TABLES = {
    "people": {"source_format": CANAL, "table_id": "shop.people"},
    "people_of_shareplex": {
        "source_format": "shareplex_json",
        "table_id": "shop.people",
        "key": ["id"],
    },
    "people_of_datahub": {"source_format": "datahub_tuple", "table_id": "people", "key": ["id"]},
}
PUBLISHED = ("change_events", "latest_state")
#: Copies of rows that other programs read.
COPIES = ("marts.people", *(f"published.{mart}" for mart in PUBLISHED))
MARTS = ("marts.change_events", "marts.latest_state", "marts.row_history", *COPIES)
LEDGER = "marts.message_ledger"
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


@pytest.fixture(scope="module")
def project(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a typed mart and published marts, nothing landed."""
    folder = copy_without_tables(tmp_path_factory.mktemp("erase"))
    settings = yaml.safe_load((folder / PROJECT_FILE).read_text("utf-8"))
    settings["vars"] |= {"tables": TABLES, "published_marts": list(PUBLISHED)}
    (folder / PROJECT_FILE).write_text(yaml.safe_dump(settings), "utf-8")
    add_typed_marts(folder, ["people"])
    project = Project(spark, folder)
    project.empty()
    return project


@pytest.fixture
def landed(project: Project) -> Project:
    for source_format in FORMATS:
        sent = messages(source_format, history(source_format))
        # A message that landed twice, and one that nobody can read.
        project.land(source_format, [*sent, sent[0]])
        # A copy with the content of another message, which no run reads.
        if FIRST_KEY.encode() in (sent[1].value or b"") and source_format != CANAL:
            project.land(source_format, [replace(sent[0], value=sent[1].value)])
    unreadable = json.dumps({"data": [person(LAST_KEY, MAILS[2])]}).encode()[:-1]
    # A statement on a row that counts as one on a schema, and changes none.
    text = f"insert into people values ('{LAST_KEY}', '{MAILS[2]}')"
    misnamed = json.dumps(
        {"database": "shop", "table": "people", "type": "QUERY", "isDdl": True, "sql": text}
    ).encode()
    project.land(CANAL, [Landed("people", 90, unreadable), Landed("people", 91, misnamed)])
    project.dbt("run")
    return project


def erase(project: Project, *arguments: str) -> Any:
    key = json.dumps({"id": LAST_KEY})
    table = ("--format", CANAL, "--table", "shop.people", "--key", key)
    folders = ("--project-dir", project.root, "--profiles-dir", project.root / "profiles")
    return run_command("erase", *table, *folders, *arguments)


def test_an_erased_row_is_in_no_file_and_other_rows_stay(
    landed: Project, spark: SparkSession, spark_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = landed
    others = others_of(project)
    assert live_rows(project) == dict.fromkeys(FORMATS, 3)
    assert all("Qzebra" in "".join(content(spark, copy)) for copy in COPIES)
    shown = erase(project, "--dry-run")
    assert shown.exit_code == 0, shown.output
    target = Target.find("local", project.root, project.root / "profiles")
    made = descendants(target, CANAL).tables
    # The pages show a project without copies.
    output = shown.output.replace(
        f"builds {len(made)} tables", f"builds {len(set(made) - set(COPIES))} tables"
    )
    for page in PAGES:
        assert output in page.read_text("utf-8"), f"{page}: not what the command shows"
    assert "lose their value and key: 2\n" in shown.output
    assert "lose these rows and keep others: 2\n" in shown.output
    refused = erase(project, "--mentions")
    assert refused.exit_code == 1, "nobody confirmed"
    assert "Nothing was erased. If nobody can answer, as in a script, add --yes." in refused.output
    assert set(live_rows(project).values()) == {3}

    erasures = {source_format: erasure_of(project, source_format) for source_format in FORMATS}
    keys = {source_format: [key_of(project, source_format)] for source_format in FORMATS}
    # Killed before landing is changed: nothing was erased, so no command claims to complete it.
    for source_format, erasure in erasures.items():
        found = erasure.find(keys[source_format])
        with monkeypatch.context() as patch:
            patch.setattr("cdc_marts.operations.erasure.redact", lambda *_: interrupt())
            with pytest.raises(KeyboardInterrupt):
                erasure.erase(found, with_mentions=False, rebuild=interrupt)
        assert not erasure.interrupted(keys[source_format]).completed
        with pytest.raises(ErasureError, match="names a row"):
            erasure.find(['{"no":"key"}'])

    # Killed before and behind the rebuild, which is one for all formats here.
    for source_format, erasure in erasures.items():
        found = erasure.find(keys[source_format])
        with pytest.raises(KeyboardInterrupt):
            erasure.erase(found, with_mentions=False, rebuild=interrupt)
        assert erasure.interrupted(keys[source_format]).completed
    project.dbt("run", "--full-refresh")
    assert set(live_rows(project).values()) == {2}
    # Somebody else's tag keeps a snapshot with the rows.
    landing = erasures[CANAL].landing
    spark.sql(f"alter table {landing} create tag kept")
    kept = erase(project, "--yes", "--mentions")
    assert kept.exit_code == 1
    assert f"drop them, and repeat this command. {landing}: kept" in kept.output
    assert erasures[CANAL].interrupted(keys[CANAL]).completed
    spark.sql(f"alter table {landing} drop tag kept")
    result = erase(project, "--yes", "--mentions")
    assert result.exit_code == 0, result.output
    assert "An earlier erasure was interrupted. This command completes it." in result.output
    for source_format in FORMATS[1:]:
        made = descendants(target, source_format).tables
        erasure = erasures[source_format]
        found = erasure.find(keys[source_format])
        assert erasure.forget(found, made, is_alone=True) == []
    assert "unfinished-erasure" not in "".join(
        str(project.rows(f"show tblproperties {erasure.landing}")) for erasure in erasures.values()
    )

    assert files_with(spark_home, SECRETS) == []
    assert others_of(project) == others
    assert balanced(project)
    again = erase(project, "--yes")
    assert again.exit_code == 1
    assert "No message that was read names a row" in again.output
    agree_with_a_rebuild(project)
    assert files_with(spark_home, SECRETS) == []


@pytest.mark.parametrize(
    ("given", "row_key"),
    [
        ('{"a b": "c: d", "e" :\t1}', '{"a b":"c: d","e":1}'),
        # More digits than a double has; Python would write 1e-07
        ('{"v": 12345678901234567890.123456789}', '{"v":12345678901234567890.123456789}'),
        ('{"v":0.0000001}', '{"v":0.0000001}'),
        # Escaped as Spark does it
        (r'{"v": "\u001F \" \\"}', r'{"v":"\u001F \" \\"}'),
        ("no JSON", "no JSON"),
    ],
)
def test_a_key_may_be_given_with_spaces_and_keeps_its_values(given: str, row_key: str) -> None:
    assert compact_key(given) == row_key


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
        mart: [row for row in content(project.spark, mart) if "Qzebra" not in row] for mart in MARTS
    }


def marts_of(project: Project) -> dict[str, list[str]]:
    return {mart: content(project.spark, mart) for mart in (*MARTS, LEDGER)}


def balanced(project: Project) -> bool:
    ledger = project.rows(f"select * from {LEDGER}")
    kinds = ("change", "update_before", "ddl", "transaction", "heartbeat", "tombstone", "rejected")
    return bool(ledger) and all(row["landed"] == sum(row[kind] for kind in kinds) for row in ledger)
