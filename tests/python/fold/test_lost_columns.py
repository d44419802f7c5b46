"""Where tables lost columns: by statements, and by lists of all columns that lack one."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.fold.lost_columns import lost_columns
from tests.python.fold.frames import frame

VERSIONS = (
    "source_format table_id source_type column_names first_sequence last_sequence"
    " first_whole_sequence last_whole_sequence"
)
DROPS = "source_format table_id change column_name sequence"
CANAL = {"source_format": "canal_json", "table_id": "shop.orders"}


def version(
    names: str, seen: tuple[int, int], whole: tuple[int, int] | None = None
) -> dict[str, Any]:
    """A schema version of these columns, seen from one offset to another, and listed whole."""
    first_whole, last_whole = whole or (None, None)
    return {
        **CANAL,
        "column_names": names.split(),
        "first_sequence": at(seen[0]),
        "last_sequence": at(seen[1]),
        "first_whole_sequence": at(first_whole),
        "last_whole_sequence": at(last_whole),
    }


def drop(column: str | None, offset: int, change: str | None = None) -> dict[str, Any]:
    change = change or ("table_drop" if column is None else "column_drop")
    return {**CANAL, "change": change, "column_name": column, "sequence": at(offset)}


def at(offset: int | None) -> tuple[int, int, int] | None:
    return None if offset is None else (offset, 0, offset)


WHOLE = version("id note", (1, 1), (1, 1))
#: An update listed less before an insert did.
NARROW = version("id", (2, 6), (3, 4))


def lost(
    spark: SparkSession,
    versions: list[dict[str, Any]],
    drops: list[dict[str, Any]] = (),
    source_format: str = "canal_json",
) -> list[tuple[str, int, bool]]:
    """Column, offset of what shows that it is gone, whether that is a statement."""
    of_format = {"source_format": source_format}
    found = lost_columns(
        frame(spark, VERSIONS, [{**row, **of_format} for row in versions]),
        frame(spark, DROPS, [{**row, **of_format} for row in drops]),
    )
    rows = found.collect()
    assert all((row.source_format, row.table_id) == (source_format, "shop.orders") for row in rows)
    return sorted(
        (row.column_name, row.sequence.offset, row.is_dropped_by_statement) for row in rows
    )


def test_the_first_and_the_last_list_of_all_columns_show_what_is_gone(spark: SparkSession) -> None:
    assert lost(spark, [WHOLE, NARROW], source_format="dataworks_json") == [
        ("note", 3, False),
        ("note", 4, False),
    ]


def test_sparse_rows_show_nothing(spark: SparkSession) -> None:
    assert lost(spark, [WHOLE, NARROW], source_format="lindorm_debezium") == []


def test_an_update_with_fewer_columns_shows_nothing(spark: SparkSession) -> None:
    narrow = version("id", (2, 6))
    assert lost(spark, [WHOLE, narrow], source_format="dataworks_json") == []


def test_where_images_are_partial_an_insert_may_leave_out_columns_too(spark: SparkSession) -> None:
    assert lost(spark, [WHOLE, NARROW]) == []
    by_update = version("id", (6, 7), (7, 7))
    assert lost(spark, [WHOLE, by_update]) == []


def test_a_shorter_insert_alone_shows_what_is_gone(spark: SparkSession) -> None:
    assert lost(spark, [WHOLE, version("id", (6, 9), (6, 8))]) == [
        ("note", 6, False),
        ("note", 8, False),
    ]


def test_a_statement_drops_a_column_also_where_images_are_partial(spark: SparkSession) -> None:
    narrow_too = version("note", (2, 6))
    assert lost(spark, [WHOLE, NARROW, narrow_too], [drop("note", 9)]) == [("note", 9, True)]


def test_a_dropped_table_loses_the_columns_seen_before(spark: SparkSession) -> None:
    created_anew = version("id", (6, 7))
    later = version("city", (8, 8), (8, 8))
    dropped = [("id", 5, True), ("note", 5, True)]
    # The update of the new table is no partial image: its table has the key alone.
    assert lost(spark, [WHOLE, created_anew], [drop(None, 5)]) == dropped
    assert lost(spark, [WHOLE, created_anew, later], [drop(None, 5)]) == [
        ("id", 5, True),
        ("id", 8, False),
        ("note", 5, True),
        ("note", 8, False),
    ]


def test_a_partial_image_before_a_drop_counts_where_the_column_came_back(
    spark: SparkSession,
) -> None:
    before = version("id note", (1, 8), (1, 1))
    after = version("note", (9, 9), (9, 9))
    assert lost(spark, [before, version("id", (6, 7)), after], [drop(None, 5)]) == [
        ("id", 5, True),
        ("note", 5, True),
    ]


@pytest.mark.parametrize(
    ("named", "columns", "dropped"),
    [
        ("NOTE", "id note", "note"),
        ("note", "id note Note", "note"),
        ("NOTE", "id note Note", "NOTE"),
        ("other", "id note", "other"),
    ],
)
def test_a_statement_names_a_column_in_any_letter_case_where_that_is_unambiguous(
    spark: SparkSession, named: str, columns: str, dropped: str
) -> None:
    assert lost(spark, [version(columns, (1, 1), (1, 1))], [drop(named, 9)]) == [(dropped, 9, True)]


@pytest.mark.parametrize(
    ("columns", "dropped"),
    [
        # The server named its column so before, whatever the statement calls it.
        ("id note", []),
        ("id NOTE", ["NOTE"]),
        ("id Note", ["Note"]),
        ("id note NOTE", ["NOTE"]),
        ("id Note NOTE", []),
        ("id", []),
    ],
)
def test_a_new_letter_case_takes_only_a_column_in_another_one(
    spark: SparkSession, columns: str, dropped: list[str]
) -> None:
    found = lost(spark, [version(columns, (1, 1), (1, 1))], [drop("note", 9, "column_respelling")])
    assert found == [(column, 9, True) for column in dropped]


@pytest.mark.parametrize(
    ("later", "dropped"),
    [
        ([], [("note", 9, False)]),
        # The column was not the dropped one, or it is there again.
        ([version("id note", (12, 12))], []),
    ],
)
def test_behind_a_drop_without_a_name_an_insert_shows_which_column_is_gone(
    spark: SparkSession, later: list[dict[str, Any]], dropped: list[tuple[str, int, bool]]
) -> None:
    """Also if images are partial, as those of updates are in SharePlex."""
    versions = [WHOLE, version("id", (2, 9), (9, 9)), *later]
    assert lost(spark, versions) == []
    unnamed = drop(None, 6, "unnamed_column_drop")
    assert lost(spark, versions, [unnamed]) == dropped
    # An insert before it, or a column that was added later, shows nothing.
    assert lost(spark, versions, [{**unnamed, "sequence": at(10)}]) == []


def of_system(source_type: str | None, *versions: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**version, "source_type": source_type} for version in versions]


RESPELLED = (version("id email", (1, 9), (1, 9)), version("id Email", (11, 30), (20, 30)))


@pytest.mark.parametrize("source_type", ["mysql", "mariadb", "drds"])
def test_where_letter_case_does_not_count_another_spelling_takes_the_place_of_a_column(
    spark: SparkSession, source_type: str
) -> None:
    """MODIFY renames such a column. So the update at 11 is no partial image."""
    assert lost(spark, of_system(source_type, *RESPELLED)) == [
        ("email", 11, False),
        ("email", 20, False),
        ("email", 30, False),
    ]


@pytest.mark.parametrize("source_type", ["postgresql", "oracle", None])
def test_where_letter_case_counts_another_spelling_is_another_column(
    spark: SparkSession, source_type: str | None
) -> None:
    assert lost(spark, of_system(source_type, *RESPELLED)) == []


def test_the_event_that_lists_another_spelling_lacks_nothing(spark: SparkSession) -> None:
    """The column is gone before the event, and so before all rows of its message."""
    versions = frame(spark, VERSIONS, of_system("mysql", *RESPELLED))
    found = lost_columns(versions, frame(spark, DROPS, [])).collect()
    assert min(tuple(row.sequence) for row in found) == (11, None, 0, 11, None)


def test_a_column_in_another_letter_case_is_gone_also_where_images_are_partial(
    spark: SparkSession,
) -> None:
    key_alone = version("id", (2, 8))
    assert lost(spark, of_system("mysql", key_alone, *RESPELLED)) == [("email", 11, False)]


def test_a_column_that_gets_its_old_letter_case_again_is_gone_in_the_other_one(
    spark: SparkSession,
) -> None:
    there, back = version("id email", (1, 40)), version("id Email", (11, 30))
    assert lost(spark, of_system("mysql", there, back)) == [
        ("Email", 40, False),
        ("email", 11, False),
        ("email", 30, False),
    ]


def test_a_table_that_lists_a_column_in_two_letter_cases_has_both(spark: SparkSession) -> None:
    """Its types name no other system, but MySQL cannot have such a table."""
    both = version("id email Email", (1, 1))
    assert lost(spark, of_system("mysql", both, *RESPELLED)) == []


def test_a_statement_may_drop_a_column_of_a_table_without_rows(spark: SparkSession) -> None:
    assert lost(spark, [], [drop("note", 9), drop("note", 9)]) == [("note", 9, True)]


def test_a_drop_in_another_letter_case_means_the_column_that_was_there(spark: SparkSession) -> None:
    versions = [
        version("id note", (1, 1), (1, 1)),
        version("id", (3, 3)),
        version("id NOTE", (5, 5)),
        version("id note NOTE", (8, 8)),
    ]
    assert lost(spark, versions, [drop("NOTE", 2)]) == [("note", 2, True)]
    # Of two that had the letters, one was gone.
    assert lost(spark, versions, [drop("NOTE", 2), drop("Note", 6)]) == [
        ("NOTE", 6, True),
        ("note", 2, True),
    ]
    # Both are there again: no column has the letters alone.
    assert ("Note", 9, True) in lost(spark, versions, [drop("NOTE", 2), drop("Note", 9)])
