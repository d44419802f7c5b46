"""A wrong `swapped_canal_topics` is noticed, whichever way it is wrong: through the real parser."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import canal_json
from cdc_marts.parsing.settings import times_by_topic
from tests.python.data_tests.small_project import run_data_tests
from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import INSERT, UPDATE, Place, RowChange, Table
from tests.python.formats.staging import landed

TABLE = Table("orders", {"id": "long", "note": "text"}, ("id",))
DAY = 86_400_000
FIRST_DAY = 1_640_995_200_000  # 2022-01-01
DAYS = 4
#: A topic became as usual here, on the third day.
SWITCH = "2022-01-03T00:00:00Z"

#: topic -> on how many of its days it is swapped, and what is set for it
TOPICS: dict[str, tuple[int, dict[str, str | None]]] = {
    "usual": (0, {}),
    "usual, set as swapped": (0, {"usual, set as swapped": None}),
    "swapped": (DAYS, {}),
    "swapped, so set": (DAYS, {"swapped, so set": None}),
    "switched": (2, {}),
    "switched, so set": (2, {"switched, so set": SWITCH}),
    "switched, set as swapped": (2, {"switched, set as swapped": None}),
}
SETTINGS = {topic: until for _, setting in TOPICS.values() for topic, until in setting.items()}


Findings = dict[str, list[tuple[str, str]]]


@pytest.fixture(scope="module")
def staging(spark: SparkSession) -> str:
    """The table of the parsed messages."""
    messages = None
    for topic, (days_swapped, _) in TOPICS.items():
        of_topic = landed(spark, _history(days_swapped), topic=topic)
        messages = of_topic if messages is None else messages.union(of_topic)
    spark.sql("create namespace if not exists proofs")
    parsed = canal_json.parse(messages, swapped_topics=times_by_topic(SETTINGS))
    parsed.writeTo("proofs.canal").createOrReplace()
    return "proofs.canal"


@pytest.fixture(scope="module")
def findings(
    spark: SparkSession,
    spark_target: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
    staging: str,
) -> Findings:
    """Topic -> the days on which its images look swapped, with what to set."""
    return _found(spark, tmp_path_factory.mktemp("swapped"), spark_target, staging, SETTINGS, {})


def _found(
    spark: SparkSession,
    folder: Path,
    target: dict[str, Any],
    staging: str,
    settings: Mapping[str, str | None],
    arguments: Mapping[str, str],
) -> Findings:
    """What the data test finds with these settings of the project, and these arguments."""
    schema, name = staging.split(".")
    test = {
        "canal_images_stand_right": {
            "name": "images",
            "arguments": dict(arguments),
            "config": {"store_failures": True, "schema": "proofs", "alias": "swapped_topics"},
        }
    }
    [result] = run_data_tests(
        folder,
        target,
        {
            "events": f"select * from {staging} where record_type = 'change'",
            # The table itself: its properties are asked for.
            "staging": f"{{{{ config(materialized='table', schema='{schema}', alias='{name}') }}}}"
            " select 1",
        },
        [{"name": "events", "data_tests": [test]}],
        {"swapped_canal_topics": settings},
    )
    assert result.status == "fail"
    days: Findings = {}
    for row in spark.table("proofs.swapped_topics").orderBy("topic", "published_on").collect():
        days.setdefault(row["topic"], []).append((str(row["published_on"]), row["advice"]))
    return days


def _history(days_swapped: int) -> Iterator[bytes]:
    """A row's changes, three a day, of which the last gives it a value that it had before."""
    place = Place(1, FIRST_DAY)
    note = "made"
    insert = RowChange(INSERT, TABLE, place, after={"id": 1, "note": note})
    yield ENCODE["canal_json"](insert)[0].value
    for day in range(DAYS):
        for change, new in enumerate(("one", "two", "one")):
            before, after = {"id": 1, "note": note}, {"id": 1, "note": f"{new} of day {day}"}
            note = after["note"]
            place = Place(1, FIRST_DAY + day * DAY + change + 1)
            update = RowChange(UPDATE, TABLE, place, before=before, after=after)
            [message] = ENCODE["canal_json"](update, swapped=day < days_swapped, whole_old=True)
            yield message.value


def test_topics_that_are_set_as_they_are_pass(findings: Findings) -> None:
    wrong = {"usual, set as swapped", "swapped", "switched", "switched, set as swapped"}
    assert findings.keys() == wrong


@pytest.mark.parametrize(
    ("topic", "days"),
    [
        ("usual, set as swapped", [1, 2, 3, 4]),
        ("swapped", [1, 2, 3, 4]),
        ("switched", [1, 2]),
        ("switched, set as swapped", [3, 4]),
    ],
)
def test_a_topic_is_told_with_its_days(findings: Findings, topic: str, days: list[int]) -> None:
    assert [day for day, _ in findings[topic]] == [f"2022-01-0{day}" for day in days]


@pytest.mark.parametrize(
    ("topic", "advice"),
    [
        ("usual, set as swapped", "not swapped: remove the topic from `swapped_canal_topics`"),
        ("swapped", '`swapped_canal_topics: {"swapped": null}`'),
        (
            "switched",
            "swapped until 2022-01-02T00:00:00.733Z and not swapped from 2022-01-03T00:00:00.732Z"
            ' on: set `swapped_canal_topics: {"switched": "2022-01-03T00:00:00.732Z"}`',
        ),
        (
            "switched, set as swapped",
            "swapped until 2022-01-02T00:00:00.733Z and not swapped from 2022-01-03T00:00:00.732Z"
            ' on: set `swapped_canal_topics: {"switched, set as swapped":'
            ' "2022-01-03T00:00:00.732Z"}`',
        ),
    ],
)
def test_a_topic_is_reported_with_the_setting_that_fits_it(
    findings: Findings, topic: str, advice: str
) -> None:
    for _, reported in findings[topic]:
        assert advice in reported
        assert "dbt run --full-refresh --select stg_canal_json+" in reported


def test_the_setting_counts_by_which_the_messages_were_read(
    spark: SparkSession,
    spark_target: dict[str, Any],
    tmp_path: Path,
    staging: str,
    findings: Findings,
) -> None:
    """The project's was changed since."""
    kept = json.dumps({topic: {"until": until} for topic, until in SETTINGS.items()})
    spark.sql(f"alter table {staging} set tblproperties ('cdc_marts.swapped-topics' = '{kept}')")
    changed = {"swapped": None, "usual": None}
    arguments = {"staging": "ref('staging')"}
    found = _found(spark, tmp_path, spark_target, staging, changed, arguments)
    assert found == findings
