"""A landing table notes which erasures are not complete, and only the same rows end a note."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dbt.adapters.spark_session.api import iceberg_table
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.operations.erasure import Erasure
from cdc_marts.operations.erasure.progress import REDACTED, note_begin, note_change, note_end
from cdc_marts.relations import Relations

LANDING = "noted.canal_json"
STAGING = "noted.stg_canal_json"
ONE, OTHER, EARLIER = '{"id":"Vk1"}', '{"id":"Vk2"}', '{"id":"Vk0"}'
OLDER_NOTE = "cdc_marts.unfinished-erasure"


@pytest.fixture
def erasure(spark: SparkSession) -> Iterator[Erasure]:
    """Erasures in a landing table that has a message, without notes."""
    spark.sql("create namespace noted")
    spark.sql(f"create table {LANDING} (topic string)")
    spark.sql(f"insert into {LANDING} values ('people')")
    yield on_target(spark, STAGING)
    spark.sql(f"drop table {LANDING} purge")
    spark.sql("drop namespace noted")


def on_target(spark: SparkSession, staging: str, table_id: str = "shop.people") -> Erasure:
    relations = Relations({"stg_canal_json": staging}, "noted")
    return Erasure(spark, "canal_json", table_id, relations)


def interrupt(erasure: Erasure, *asked: str) -> str:
    """Note an erasure that changed messages and was interrupted; return its id."""
    note = note_begin(erasure, asked, [*asked, EARLIER])
    note_change(erasure, note)
    return note.id


def counts(erasure: Erasure, *keys: str) -> tuple[int, int]:
    """Return how many interrupted erasures one of `keys` completes, and how many others exist."""
    found = erasure.interrupted(keys)
    return len(found.completed), len(found.others)


def test_an_erasure_that_changed_nothing_counts_as_never_begun(erasure: Erasure) -> None:
    note = note_begin(erasure, [ONE], [ONE])
    assert counts(erasure, ONE) == (0, 0)
    redact(erasure, "somebody else's")
    assert counts(erasure, ONE) == (0, 0)
    # Killed between the change and its note.
    redact(erasure, note.id)
    assert counts(erasure, ONE) == (1, 0)


def redact(erasure: Erasure, id_: str) -> None:
    iceberg_table(erasure.session, LANDING).newAppend().set(REDACTED, id_).commit()


def test_only_an_erasure_of_the_same_rows_completes_one(erasure: Erasure) -> None:
    spark = erasure.session
    interrupt(erasure, ONE)
    others = (
        (erasure, OTHER),
        (on_target(spark, STAGING, "shop.pets"), ONE),
        (on_target(spark, "other.stg_canal_json"), ONE),
    )
    for other, key in others:
        assert counts(other, key) == (0, 1)
        interrupt(other, key)
        note_end(other, [key])
        assert counts(other, key) == (0, 1)
    assert counts(erasure, '{"id": "Vk1"}') == (1, 0)
    assert counts(erasure, OTHER, ONE) == (1, 0)

    interrupt(erasure, ONE, OTHER)
    assert counts(erasure, ONE) == (1, 1)
    note_end(erasure, [ONE])
    assert counts(erasure, ONE) == (0, 1)
    note_end(erasure, [OTHER, ONE])
    assert counts(erasure, ONE) == (0, 0)


def test_a_note_has_no_key_and_finds_all_keys_of_its_rows(erasure: Erasure) -> None:
    interrupt(erasure, ONE)
    noted = dict(iceberg_table(erasure.session, LANDING).properties())
    assert "shop.people" in str(noted)
    assert "Vk" not in str(noted)

    [note] = erasure.interrupted([ONE]).completed
    assert note.rows is not None
    keys = erasure.session.createDataFrame([(key,) for key in (ONE, OTHER, EARLIER)], "key string")
    found = keys.where(note.rows.has_key(F.col("key"))).collect()
    assert {row["key"] for row in found} == {ONE, EARLIER}


def test_an_erasure_by_an_older_version_may_have_been_of_any_rows(erasure: Erasure) -> None:
    set_older_note(erasure, "true")
    interrupt(erasure, OTHER)
    assert counts(erasure, ONE) == (1, 1)
    note_end(erasure, [ONE])
    assert counts(erasure, ONE) == (0, 1)

    # Its other form: the snapshot that the erasure found.
    table = iceberg_table(erasure.session, LANDING)
    set_older_note(erasure, str(table.currentSnapshot().snapshotId()))
    assert counts(erasure, ONE) == (0, 1)
    redact(erasure, "true")
    assert counts(erasure, ONE) == (1, 1)


def set_older_note(erasure: Erasure, value: str) -> None:
    iceberg_table(erasure.session, LANDING).updateProperties().set(OLDER_NOTE, value).commit()


def test_a_note_says_of_which_table_and_target_it_is(erasure: Erasure) -> None:
    interrupt(erasure, ONE)
    [note] = erasure.interrupted([OTHER]).others
    own = note.subject(LANDING, STAGING)
    assert own.startswith(f"An erasure of rows in {LANDING} (shop.people, begun at 20")
    assert own.endswith(" UTC)")
    elsewhere = note.subject(LANDING, "other.stg_canal_json")
    assert elsewhere.endswith(f" UTC, on the target of {STAGING})")
