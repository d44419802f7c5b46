"""A keyless row that a split update wrote is erased with both halves, and by the marts' key."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from cdc_marts.operations.erasure import Erasure
from tests.python.formats.streamx import row_message
from tests.python.harness.project import Landed, Project, content

SOURCE_FORMAT = "dataworks_json"
#: What an erasure reads, and what shows what is left.
RUN = ("run", "--select", "+change_events +latest_state +int_split_key_changes")
MARTS = ("marts.change_events", "marts.latest_state")
START = 1_709_280_000_000

pytestmark = pytest.mark.thorough

Row = dict[str, str]


def streamx(op: str, sequence: int, before: Row | None = None, after: Row | None = None) -> bytes:
    """A message of a table without a key."""
    message = row_message(
        op,
        before,
        after,
        sequence_id=str(START * 1_000_000 + sequence),
        primary_key=[],
        columns=dict.fromkeys(("a", "mail"), "STRING"),
        source={"dbType": "mysql", "dbName": "shop", "tableName": "people"},
        times={"eventTime": START + sequence, "systemTime": START + sequence},
    )
    return json.dumps(message).encode()


def history(a: str) -> Callable[[int], list[bytes]]:
    """A row gets another mail, by an update whose second half has nothing but this mail."""
    created = {"a": a, "mail": "x"}
    return lambda sequence: [
        streamx("INSERT", sequence, after=created),
        streamx("UPDATE_BEFOR", sequence + 1, before=created),
        streamx("UPDATE_AFTER", sequence + 1, after={"mail": "y"}),
    ]


@pytest.fixture(scope="module")
def built(project: Project) -> Project:
    """Two people, who have the same second half; that of the first one landed twice."""
    first, second = history("1")(0), history("2")(10)
    messages = [*first, *second, first[-1]]
    project.land(SOURCE_FORMAT, [Landed("people", i, value) for i, value in enumerate(messages)])
    project.dbt(*RUN)
    assert keys(project) == ['{"a":"1","mail":"y"}', '{"a":"2","mail":"y"}']
    return project


@pytest.mark.parametrize("mail", ["x", "y"])
def test_a_key_of_the_marts_finds_both_halves(built: Project, mail: str) -> None:
    found = Erasure(built.spark, SOURCE_FORMAT, "shop.people").find([row_key("1", mail)])

    assert sorted(message.offset for message in found.whole) == [0, 1, 2, 6]
    assert found.live_keys == [row_key("1", "y")]
    assert not found.shared


def test_both_halves_are_erased_and_those_of_others_stay(built: Project) -> None:
    erasure = Erasure(built.spark, SOURCE_FORMAT, "shop.people")
    others = [row for mart in MARTS for row in content(built.spark, mart) if r"\"2\"" in row]
    found = erasure.find([row_key("1", "x")])
    assert erasure.are_back(found, with_mentions=False)

    erasure.erase(found, False, lambda: built.dbt(*RUN, "--full-refresh"))

    assert not erasure.are_back(found, with_mentions=False)
    assert [row for mart in MARTS for row in content(built.spark, mart)] == others
    landed = built.rows(f"select offset from landing.{SOURCE_FORMAT} where value is not null")
    assert sorted(row["offset"] for row in landed) == [3, 4, 5]

    # The row comes back in two halves of which none has its key.
    built.land(
        SOURCE_FORMAT,
        [
            Landed("people", 7, streamx("UPDATE_BEFOR", 20, before={"a": "1", "mail": "z"})),
            Landed("people", 8, streamx("UPDATE_AFTER", 20, after={"mail": "y"})),
        ],
    )
    built.dbt(*RUN)
    assert erasure.are_back(found, with_mentions=False)


def row_key(a: str, mail: str) -> str:
    return json.dumps({"a": a, "mail": mail}, separators=(",", ":"))


def keys(project: Project) -> list[str]:
    return sorted(row["row_key"] for row in project.rows("select row_key from marts.latest_state"))
