"""An erasure also finds the messages of a row that do not have the given key."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import pytest
from dbt.cli.main import dbtRunnerResult

from cdc_marts.operations.erasure import Erasure
from cdc_marts.operations.status_gathering import gather
from cdc_marts.project import dbt_commands
from tests.python.harness.commands import run_command
from tests.python.harness.project import Landed, Project, content

CANAL = "canal_json"
#: What an erasure reads, and what shows what is left.
RUN = ("run", "--select", "+change_events +latest_state +int_split_key_changes")
#: A table that gets a longer key, and one that gets its first key with another spelling.
PEOPLE, VISITORS = "shop.people", "shop.visitors"
KEY, EARLIER_KEY = '{"tenant":"eu","id":"7"}', '{"id":"7"}'
VISITOR, EARLIER_VISITOR = '{"ID":"7"}', '{"id":"7","mail":"v1Qzebra"}'

pytestmark = pytest.mark.thorough

Row = dict[str, str]


def person(id_: str, tenant: str, mail: str) -> Row:
    return {"id": id_, "tenant": tenant, "mail": mail}


def canal(kind: str, table_id: str, keys: Sequence[str], *rows: Row) -> bytes:
    database, _, table = table_id.partition(".")
    message = {
        "database": database,
        "table": table,
        "type": kind,
        "isDdl": False,
        "es": 1_767_225_600_000,
        "ts": 1_767_225_600_000,
        "pkNames": list(keys),
        "mysqlType": dict.fromkeys(rows[0], "varchar(20)"),
        "data": rows,
    }
    return json.dumps(message).encode()


MESSAGES = [
    canal("INSERT", PEOPLE, ["id"], person("7", "eu", "p1Qzebra")),
    canal("INSERT", PEOPLE, ["id"], person("8", "us", "other")),
    canal("UPDATE", PEOPLE, ["tenant", "id"], person("7", "eu", "p2Qzebra")),
    canal("INSERT", PEOPLE, ["tenant", "id"], person("7", "us", "other")),
    canal("INSERT", VISITORS, [], {"id": "7", "mail": "v1Qzebra"}),
    canal("INSERT", VISITORS, [], {"id": "8", "mail": "v1Qzebra"}),
    canal("UPDATE", VISITORS, ["ID"], {"ID": "7", "mail": "v2Qzebra"}),
    canal("INSERT", VISITORS, ["ID"], {"ID": "8", "mail": "7"}),
]


CUSTOMERS, CUSTOMER = "shop.customers", "Vk9Qzebra"
#: Offsets and customers of two exports. In the second one, rows have other offsets, and two
#: messages have the same offset: the smaller one counts.
EXPORTS = [
    [(0, [CUSTOMER]), (1, ["A1"]), (4, [CUSTOMER, "A4"])],
    [(0, ["A0"]), (1, [CUSTOMER]), (2, ["A1"]), (3, [CUSTOMER]), (3, ["A2"]), (4, ["A3"])],
]
MARTS = ("marts.change_events", "marts.latest_state")


def customers(ids: Sequence[str]) -> bytes:
    return canal("INSERT", CUSTOMERS, ["id"], *({"id": id_} for id_ in ids))


@pytest.fixture(scope="module")
def built(project: Project) -> Project:
    project.land(CANAL, [Landed("shop", i, value) for i, value in enumerate(MESSAGES)])
    for landing in EXPORTS:
        project.land(CANAL, [Landed("export", offset, customers(ids)) for offset, ids in landing])
    project.dbt(*RUN)
    return project


@pytest.mark.parametrize(
    ("table_id", "key", "keys", "offsets"),
    [
        (PEOPLE, KEY, {KEY, EARLIER_KEY}, [0, 2]),
        (PEOPLE, EARLIER_KEY, {KEY, EARLIER_KEY}, [0, 2]),
        (PEOPLE, '{"tenant":"us","id":"7"}', {'{"tenant":"us","id":"7"}'}, [3]),
        (VISITORS, VISITOR, {VISITOR, EARLIER_VISITOR}, [4, 6]),
        (VISITORS, EARLIER_VISITOR, {VISITOR, EARLIER_VISITOR}, [4, 6]),
    ],
)
def test_messages_from_before_and_after_a_change_of_the_table_s_key_are_found(
    built: Project, table_id: str, key: str, keys: Collection[str], offsets: Sequence[int]
) -> None:
    found = Erasure(built.spark, CANAL, table_id).find([key])

    assert set(found.row_keys) == keys
    assert sorted(message.offset for message in found.whole) == offsets
    assert not found.shared


def test_copies_that_no_run_reads_lose_the_row_and_other_rows_stay(built: Project) -> None:
    erasure = Erasure(built.spark, CANAL, CUSTOMERS)
    others = others_of(built)
    found = erasure.find([json.dumps({"id": CUSTOMER}, separators=(",", ":"))])
    assert [message.offset for message in found.whole] == [0]
    assert [message.offset for message in found.shared] == [4]
    assert [message.offset for message in found.copied] == [1, 3]

    erasure.erase(found, False, lambda: built.dbt(*RUN, "--full-refresh"))

    landed = built.rows(f"select offset, value from landing.{CANAL} where topic = 'export'")
    assert len(landed) == sum(map(len, EXPORTS))
    assert not any(CUSTOMER.encode() in (message["value"] or b"") for message in landed)
    assert not erasure.are_back(found, with_mentions=False)
    assert others_of(built) == others


@pytest.mark.usefixtures("command_line")
def test_a_rebuild_that_fails_asks_for_the_command_again(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke = dbt_commands.invoke_dbt

    def without_rebuild(command: Sequence[str], *arguments: Any) -> dbtRunnerResult:
        if "--full-refresh" in command:
            return dbtRunnerResult(success=False)
        return invoke(command, *arguments)

    monkeypatch.setattr(dbt_commands, "invoke_dbt", without_rebuild)
    of_row = ("--format", CANAL, "--table", PEOPLE, "--key", '{"id":"8"}')

    result = run_command("erase", *of_row, "--target", "local", "--yes")

    assert result.exit_code == 1
    assert "The erasure is not complete" in result.output
    assert "Repeat this command." in result.output
    assert "next run does the rest" not in result.output
    assert any("erasure" in note for note in gather(built.spark, "local").notes)


def others_of(project: Project) -> list[str]:
    """Return the rows of the marts without the customer."""
    return [row for mart in MARTS for row in content(project.spark, mart) if CUSTOMER not in row]
