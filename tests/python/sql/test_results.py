"""`cdc-marts sql` writes results in five formats, and says in a sentence what fails."""

from __future__ import annotations

import base64
import csv
import datetime as dt
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from cdc_marts.sql import ResultFormat, results
from tests.python.sql.conftest import HOSTILE, SHOWN, Sql

ORDERS = "select * from sql_test.orders order by id desc"
TIME = dt.datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=dt.timezone.utc)


def test_a_table_is_drawn_as_spark_draws_it(
    sql: Sql, session: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "select id, amount, note, tags, row, placed_at from sql_test.orders order by id"
    result = sql(query)
    assert result.exit_code == 0, result.output
    session.sql(query).show(truncate=False)
    assert result.stdout.strip() == capsys.readouterr().out.strip()
    assert '{"n":1,"name":"李雷"}' in result.stdout


def test_csv_tells_null_from_an_empty_text(sql: Sql) -> None:
    result = sql(ORDERS, "--format", "csv")
    header, first, second = csv.reader(result.stdout.splitlines())
    assert header == ["id", "amount", "note", "tags", "row", "placed_at", "bytes"]
    assert first == [
        *("9007199254740993", "1.10", 'a,"b"', '["x|y"]', '{"n":1,"name":"李雷"}'),
        *("2026-01-02 03:04:05.123456", "AP8="),
    ]
    assert second == ["2", *[""] * 6]
    assert result.stdout.splitlines()[-1] == '2,,"",,,,'


def test_json_is_an_array_of_objects_with_exact_values(sql: Sql) -> None:
    result = sql(ORDERS, "--format", "json")
    first, second = json.loads(result.stdout, parse_float=Decimal)
    assert first == {
        "id": 9007199254740993,
        "amount": Decimal("1.10"),
        "note": 'a,"b"',
        "tags": ["x|y"],
        "row": {"name": "李雷", "n": 1},
        "placed_at": "2026-01-02T03:04:05.123456Z",
        "bytes": base64.b64encode(b"\x00\xff").decode(),
    }
    assert second == {"id": 2, "note": "", **dict.fromkeys({*first} - {"id", "note"})}
    assert json.loads(sql(f"{ORDERS} limit 0", "--format", "json").stdout) == []


@pytest.mark.parametrize("result_format", ["csv", "json"])
def test_base64_of_many_bytes_is_one_line(sql: Sql, result_format: str) -> None:
    result = sql("select unhex(repeat('ab', 100)) as bytes", "--format", result_format)
    assert base64.b64encode(b"\xab" * 100).decode() in result.stdout


def test_markdown_escapes_what_would_end_a_cell(sql: Sql) -> None:
    result = sql("select 'a|b\nc' as `x|y`, cast(null as int) as n", "--format", "md")
    assert result.stdout == "| x\\|y | n |\n|---|---|\n| a\\|b\\nc | NULL |\n"


def test_parquet_keeps_types_and_has_variant_as_json(sql: Sql, tmp_path: Path) -> None:
    path = tmp_path / "orders.parquet"
    result = sql(ORDERS, "--format", "parquet", "--output", path)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    first, second = pq.read_table(path).to_pylist()
    assert first == {
        "id": 9007199254740993,
        "amount": Decimal("1.10"),
        "note": 'a,"b"',
        "tags": ["x|y"],
        "row": '{"n":1,"name":"李雷"}',
        "placed_at": TIME,
        "bytes": b"\x00\xff",
    }
    assert second == {"id": 2, "note": "", **dict.fromkeys({*first} - {"id", "note"})}


def test_parquet_is_written_in_batches(
    sql: Sql, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "_BATCH", 7)
    path = tmp_path / "numbers.parquet"
    sql("select id from range(20)", "--format", "parquet", "--output", path)
    assert pq.ParquetFile(path).num_row_groups == 3
    assert pq.read_table(path)["id"].to_pylist() == list(range(20))


@pytest.mark.parametrize("result_format", ResultFormat)
def test_a_file_is_written_whole_or_not_at_all(
    sql: Sql, tmp_path: Path, result_format: ResultFormat
) -> None:
    path = tmp_path / "result"
    path.write_text("of before")
    fails = "select if(id < 900, id, raise_error('too far')) as id from range(0, 1000, 1, 10)"
    result = sql(fails, "--format", result_format.value, "--output", path)
    assert (result.exit_code, result.output) == (1, "too far.\n")
    assert [file.name for file in tmp_path.iterdir()] == ["result"]
    assert path.read_text() == "of before"

    assert sql(ORDERS, "--format", result_format.value, "--output", path).exit_code == 0
    assert b"9007199254740993" in path.read_bytes() or result_format is ResultFormat.parquet
    assert [file.name for file in tmp_path.iterdir()] == ["result"]


def test_rows_are_written_before_later_ones_are_made(session: SparkSession) -> None:
    fails_late = session.sql(
        "select if(id < 9000, id, raise_error('too far')) as id from range(0, 10000, 1, 10)"
    )
    for result_format in (ResultFormat.csv, ResultFormat.json, ResultFormat.md):
        written = io.StringIO()
        with pytest.raises(Py4JError, match="too far"):
            results.write_lines(fails_late, result_format, written)
        assert len(written.getvalue().splitlines()) > 1_000


def test_a_table_is_cut_and_says_so(sql: Sql, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MOST_ROWS", 3)
    lines = sql("select id from range(5)").stdout.splitlines()
    assert lines[3:6] == ["|0  |", "|1  |", "|2  |"]
    assert lines[-1] == "The table shows the first 3 rows; other formats have all of them."
    assert "first" not in sql("select id from range(3)").stdout


def test_a_row_that_is_wider_than_the_terminal_is_a_record(session: SparkSession) -> None:
    frame = session.sql("select 1 as id, '0123456789' as name")
    assert list(results.table_of(frame, width=10)) == [
        *("-- row 1 --", "id   | 1", "name | 0123456789")
    ]
    assert list(results.table_of(frame, width=16))[1] == "|id |name      |"


def test_a_terminal_of_unknown_width_gets_a_table(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(results.os, "get_terminal_size", lambda _: results.os.terminal_size((0, 0)))
    monkeypatch.setattr("sys.stdout.fileno", lambda: 1)
    results.write_result(session.sql("select 1 as a"), ResultFormat.table, None)
    assert capsys.readouterr().out == "+---+\n|a  |\n+---+\n|1  |\n+---+\n"


def test_values_and_names_are_escaped_where_people_read_them(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = session.createDataFrame([(HOSTILE,)], [HOSTILE])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(
        results.os, "get_terminal_size", lambda _: results.os.terminal_size((99, 9))
    )
    monkeypatch.setattr("sys.stdout.fileno", lambda: 1)
    for result_format in (f for f in ResultFormat if f is not ResultFormat.parquet):
        results.write_result(frame, result_format, None)
        shown = capsys.readouterr().out
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        if result_format is not ResultFormat.json:
            assert shown.count(SHOWN) == 2


def test_programs_get_values_as_they_are(sql: Sql) -> None:
    query = "select concat('x', char(27), '[2J', '\\u202e', char(10), 'row') as a"
    (row,) = json.loads(sql(query, "--format", "json").stdout)
    assert row == {"a": HOSTILE}
    assert sql(query, "--format", "csv").stdout == f'a\n"{HOSTILE}"\n'


@pytest.mark.parametrize("result_format", ["json", "parquet"])
def test_columns_of_one_name_need_names_of_their_own(
    sql: Sql, tmp_path: Path, result_format: str
) -> None:
    output = ("--output", tmp_path / "file")
    result = sql("select 1 as a, 2 as a", "--format", result_format, *output)
    assert result.exit_code == 1
    assert "Several columns are named a" in result.output
    assert sql("select 1 as a, 2 as a", "--format", "csv").stdout == "a,a\n1,2\n"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            "select 1 as x\nfrom nowhere",
            "The table or view `nowhere` cannot be found. Verify the spelling and correctness of"
            " the schema and catalog (line 2, position 6).",
        ),
        ("select 1 x y", "Syntax error at or near 'y': extra input 'y' (line 1, position 12)."),
        ("select raise_error('no such thing')", "no such thing."),
    ],
)
def test_an_error_is_a_sentence_with_its_place(sql: Sql, query: str, said: str) -> None:
    result = sql(query)
    assert (result.exit_code, result.output) == (1, f"{said}\n")


def test_a_write_is_refused_before_spark_starts(sql: Sql, session: SparkSession) -> None:
    result = sql("delete from sql_test.orders")
    assert result.exit_code == 2
    assert "Only queries run here" in result.output
    assert session.table("sql_test.orders").count() == 2


def test_queries_come_from_stdin_where_none_is_given(sql: Sql) -> None:
    result = sql("--format", "md", given="select 1 as a;\nselect 2 as b;\n")
    assert result.exit_code == 0, result.output
    assert result.stdout == "| a |\n|---|\n| 1 |\n| b |\n|---|\n| 2 |\n"


def test_the_suffix_of_a_file_names_its_format(sql: Sql, tmp_path: Path) -> None:
    for arguments, name, written in (
        ((), "a.csv", "a\n1\n"),
        ((), "A.JSON", '[\n{"a":1}\n]\n'),
        ((), "a.txt", "+---+\n|a  |\n+---+\n|1  |\n+---+\n"),
        (("--format", "table"), "b.csv", "+---+\n|a  |\n+---+\n|1  |\n+---+\n"),
    ):
        result = sql("select 1 as a", "--output", tmp_path / name, *arguments)
        assert result.exit_code == 0, result.output
        assert (tmp_path / name).read_text("utf-8") == written
    sql("select 1 as a", "--output", tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == [{"a": 1}]


def test_stdin_is_utf_8_with_or_without_a_mark(sql: Sql) -> None:
    result = sql("--format", "csv", given="\ufeffselect '店' as a".encode())
    assert (result.exit_code, result.stdout) == (0, "a\n店\n"), result.output
    result = sql(given="select '店'".encode("gbk"))
    assert (result.exit_code, result.output) == (2, "stdin is not UTF-8 at byte 9.\n")


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (("select 1", "--format", "parquet"), None, "Name a file with --output"),
        (("--format", "csv"), "select 1; select 2", "only one, or use --format table."),
        (("--output", "a.csv"), "select 1; select 2", "only one, or leave out --output."),
        (
            ("--output", "a", "--format", "csv"),
            "select 1; select 2",
            "only one, or use --format",
        ),
        ((), "\n", "There is no query"),
        (("select 1", "--output", "nowhere/file"), None, "does not exist"),
    ],
)
def test_wrong_use_is_said(sql: Sql, arguments: tuple[str, ...], given: str, said: str) -> None:
    result = sql(*arguments, given=given)
    assert result.exit_code == 2
    assert said in result.output
