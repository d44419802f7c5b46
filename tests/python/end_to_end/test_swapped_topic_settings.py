"""`swapped_canal_topics` is kept with the rows that were read by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import INSERT, UPDATE, Place, RowChange, Table
from tests.python.harness.project import Landed, Project

pytestmark = pytest.mark.long

STAGING = ("run", "--select", "stg_canal_json")
REBUILD = "dbt run --full-refresh --select stg_canal_json+ --target local"
TABLE = Table("orders", {"id": "long", "note": "text"}, ("id",))
#: When the first and the second update were written; the topic was restarted between them.
FIRST, SECOND = 1_640_995_200_000, 1_641_081_600_000
RESTART = "2022-01-01T12:00:00Z"


def settings(topics: Any) -> tuple[str, str]:
    return "--vars", json.dumps({"swapped_canal_topics": topics})


@pytest.fixture(scope="module")
def landed(project: Project) -> Project:
    """A topic of two updates, each with all columns in both images, and one of an insert."""
    one, two, three = ({"id": 1, "note": note} for note in ("one", "two", "three"))
    changes = [
        (RowChange(UPDATE, TABLE, Place(1, FIRST), before=one, after=two), True),
        (RowChange(UPDATE, TABLE, Place(2, SECOND), before=two, after=three), False),
    ]
    messages = [
        Landed(
            "shop", offset, ENCODE["canal_json"](change, swapped=swapped, whole_old=True)[0].value
        )
        for offset, (change, swapped) in enumerate(changes)
    ]
    insert = RowChange(INSERT, TABLE, Place(3, SECOND), after=one)
    messages.append(Landed("inserts", 0, ENCODE["canal_json"](insert)[0].value))
    project.land("canal_json", messages)
    project.dbt("run", "--select", "base_canal_json")
    return project


def notes(project: Project) -> list[tuple[str, str]]:
    """The notes before and after each update."""
    rows = project.rows(
        "select variant_get(before, '$.note', 'string') as before,"
        " variant_get(after, '$.note', 'string') as after"
        " from staging.stg_canal_json where op = 'update' order by offset"
    )
    return [(row["before"], row["after"]) for row in rows]


def test_a_changed_topic_stops_the_run_until_its_rows_are_rebuilt(landed: Project) -> None:
    landed.dbt(*STAGING, "--full-refresh", *settings({}))
    assert notes(landed) == [("two", "one"), ("two", "three")]
    for topics, message, expected in [
        ({"shop": None}, "not swapped, now swapped", [("one", "two"), ("three", "two")]),
        (
            {"shop": RESTART},
            f"swapped, now swapped until {RESTART}",
            [("one", "two"), ("two", "three")],
        ),
        ({}, f"swapped until {RESTART}, now not swapped", [("two", "one"), ("two", "three")]),
    ]:
        with pytest.raises(AssertionError) as error:
            landed.dbt(*STAGING, *settings(topics))
        assert f"shop: {message}\n" in str(error.value)
        assert REBUILD in str(error.value)

        landed.dbt(*STAGING, "--full-refresh", *settings(topics))
        assert notes(landed) == expected


def test_a_topic_may_change_where_no_update_is_read_otherwise(landed: Project) -> None:
    landed.dbt(*STAGING, "--full-refresh", *settings({"shop": RESTART}))
    for topics in [
        {"shop": RESTART, "inserts": None, "it's new": None},
        {"shop": "2022-01-01T18:00:00+00:00"},
        {"shop": "2022-01-01 12:00"},
    ]:
        landed.dbt(*STAGING, *settings(topics))
    with pytest.raises(AssertionError, match="shop: swapped until 2022-01-01 12:00, now swapped"):
        landed.dbt(*STAGING, *settings({"shop": None}))


@pytest.mark.parametrize(
    "time", ["soon", "2022-02-30", "2022-13-01T00:00:00Z", "12:30", "1641038400000", "", 2022]
)
def test_a_time_that_cannot_be_read_stops_the_run(landed: Project, time: Any) -> None:
    with pytest.raises(AssertionError) as error:
        landed.dbt(*STAGING, *settings({"shop": time}))
    assert f"the time of the topic `shop` can't be read: {time}" in str(error.value)


def test_what_is_no_mapping_of_topics_stops_the_run(landed: Project) -> None:
    with pytest.raises(AssertionError, match="it is not a mapping"):
        landed.dbt(*STAGING, *settings(["shop"]))
