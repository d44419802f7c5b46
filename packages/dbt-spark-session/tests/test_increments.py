"""Exact increments: a consumer reads every appended row once, whatever happens in between."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.spark_session import catalog
from dbt.adapters.spark_session.catalog import iceberg_table, snapshots
from dbt.adapters.spark_session.dataframes import ModelRun
from dbt.adapters.spark_session.incremental_read import IncrementalRead, Input
from dbt.adapters.spark_session.increments import unread_rows, watermarks_in
from dbt.tests.util import run_dbt, write_file
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession
from uncounted_commits import forget_counts

pytestmark = pytest.mark.thorough

READERS = ("python_reader", "sql_reader", "merging_reader")

SOURCES_YML = """
sources:
  - name: landing
    schema: "{{ var('landing_schema', target.schema) }}"
    tables: [{name: a}, {name: b}]

models:
  - name: python_reader
    config: &python_reader
      materialized: incremental
      incremental_strategy: append
      is_broken: "{{ var('is_broken', false) }}"
  - name: reader_of_two
    config: *python_reader
"""

PYTHON_MART_YML = """
  - name: python_mart
    config:
      materialized: incremental
      incremental_strategy: append
"""

BOTH = """
select id, text from {{ source('landing', 'a') }}
union all
select id, text from {{ source('landing', 'b') }} where id > 0
"""

PYTHON_READER = """
def model(dbt, session):
    rows = dbt.new_rows(dbt.ref("both"))
    if dbt.config.get("is_broken"):
        rows = rows.selectExpr("id", "cast(raise_error('broken on purpose') as string) as text")
    return rows
"""

READER_OF_TWO = """
def model(dbt, session):
    a, b = dbt.new_rows(dbt.source("landing", "a"), dbt.source("landing", "b"))
    return a.union(b)
"""

SQL_READER = """
{{ config(materialized='incremental', incremental_strategy='append') }}
select
    id,
    {% if var('is_broken', false) %} cast(raise_error('broken on purpose') as string) as {% endif %}
    text
from {{ new_rows(ref('both')) }} as both
"""

#: Reads new rows only to know whether there are some.
WRITTEN_ANEW = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite') }}
select id, text from {{ ref('both') }}
where (select count(*) from {{ new_rows(ref('both')) }}) is not null
"""

#: A view that looks something up for its rows, and names a column that `*` does not have.
LOOKED_UP = """
select a.id, b.text, a._last_updated_sequence_number as landing
from {{ source('landing', 'a') }} as a
left join {{ source('landing', 'b') }} as b on a.id = b.id
"""

READER_OF_LOOKED_UP = """
{{ config(materialized='incremental', incremental_strategy='append') }}
select * from {{ new_rows(ref('looked_up')) }}
"""

MERGING_READER = SQL_READER.replace("'append'", "'merge', unique_key='id'")


LOG = """
{{ config(materialized='incremental', incremental_strategy='append') }}
select id, text from {{ new_rows(source('landing', 'a')) }}
"""

STATE = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select id, text from {{ new_rows(ref('log')) }}
where id > 0
"""

MART = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select shown.id, shown.text from {{ ref('shown') }} as shown
left semi join {{ new_rows(ref('log')) }} as log using (id)
"""

COPY = LOG.replace("source('landing', 'a')", "ref('log')") + "where id > 0"

PYTHON_MART = """
def model(dbt, session):
    log, copy = dbt.new_rows(dbt.ref("log"), dbt.ref("copy"))
    return log.select("id", "text").intersect(copy.select("id", "text"))
"""


#: Rarely has rows, and what is made of it is rarely written.
EXCEPTIONS = LOG.replace("source('landing', 'a')", "ref('log')") + "where id < 0"
OF_EXCEPTIONS = LOG.replace("source('landing', 'a')", "ref('exceptions')")

#: New rows, each with how many had been read by the end of its run.
COUNTING = """
{{ config(materialized='incremental', incremental_strategy='append') }}
-- depends_on: {{ ref('exceptions') }} {{ ref('of_exceptions') }}
select id, (select cast(count(*) as string) from {{ rows_so_far(ref('log')) }}) as text
from {{ new_rows(ref('log')) }}
"""

PYTHON_COUNTING = """
def model(dbt, session):
    log, exceptions, known = dbt.ref("log"), dbt.ref("exceptions"), dbt.ref("of_exceptions")
    rows = dbt.new_rows(log)
    return rows.selectExpr("id", f"'{dbt.rows_so_far(log).count()}' as text")
"""

#: How many rows had been read, in one row, of a model that has no new rows of its own.
ONLY_COUNTING = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select 1 as id, count(*) as rows from {{ rows_so_far(ref('log')) }}
"""

PYTHON_COUNTING_YML = """
  - name: python_counting
    config:
      materialized: incremental
      incremental_strategy: append
"""


#: A log of each table, a view of those that have rows, a state made from it, and a mart of both.
LOGS_AND_MART = {
    "log_a.sql": LOG,
    "log_b.sql": LOG.replace("'a'", "'b'"),
    "logs.sql": """
        {% set logs = [ref('log_a')] + ([ref('log_b')] if has_rows(ref('log_b')) else []) %}
        {% for log in logs %}
        select id, text from {{ log }} {{ "union all" if not loop.last }}
        {% endfor %}
        """,
    "state.sql": STATE.replace("ref('log')", "ref('logs')"),
    "mart.sql": """
        {{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
        select state.id, state.text from {{ ref('state') }} as state
        left semi join {{ new_rows(ref('logs')) }} as logs using (id)
        """,
    "looked_up.sql": """
        select a.id, b.text
        from {{ ref('log_a') }} as a left join {{ ref('log_b') }} as b on a.id = b.id
        """,
    "looking_up.sql": LOG.replace("source('landing', 'a')", "ref('log_a')")
    + "-- depends_on: {{ ref('looked_up') }}",
    "beside.sql": LOG.replace("source('landing', 'a')", "ref('log_b')")
    + "-- depends_on: {{ ref('looking_up') }}",
}


class Landing:
    """Tables a and b, and what the readers have made of them."""

    def __init__(self, spark: SparkSession, schema: str) -> None:
        self.spark = spark
        self.schema = schema

    def create(self) -> None:
        for table in ("a", "b"):
            self.sql(f"create or replace table {{}}.{table} (id bigint, text string)")

    def sql(self, statement: str) -> None:
        self.spark.sql(statement.format(self.schema))

    def append(self, table: str, *ids: int) -> None:
        rows = ", ".join(f"({id}, 'row {id}')" for id in ids)
        self.sql(f"insert into {{}}.{table} values {rows}")

    def compact(self, table: str) -> None:
        self.sql(
            f"call system.rewrite_data_files(table => '{{}}.{table}',"
            " options => map('rewrite-all', 'true'))"
        )

    def expire(self, table: str) -> None:
        """Forget all snapshots of a table but its newest."""
        self.sql(
            f"call system.expire_snapshots(table => '{{}}.{table}',"
            " older_than => timestamp '2999-01-01 00:00:00', retain_last => 1)"
        )

    def watermark(self, reader: str, table: str) -> int:
        """The snapshot of a table up to which a reader has read it."""
        of_reader = iceberg_table(self.spark, f"{self.schema}.{reader}")
        return watermarks_in(next(snapshots(self.spark, of_reader)))[f"{self.schema}.{table}"]

    def roll_back(self, table: str) -> None:
        """Bring a table back to its first snapshot."""
        name = f"{self.schema}.{table}"
        first = self.spark.sql(
            f"select snapshot_id from {name}.history where is_current_ancestor"
            " order by made_current_at"
        ).first()
        self.sql(f"call system.rollback_to_snapshot('{name}', {first.snapshot_id})")

    def run(self, *arguments: str, expect_pass: bool = True, **variables: object) -> dict[str, str]:
        """Run the readers; the message of each."""
        command = ["run", *arguments, "--vars", json.dumps(variables)]
        results = run_dbt(command, expect_pass=expect_pass)
        return {result.node.name: result.message for result in results}

    def ids(self, reader: str) -> list[int]:
        return sorted(row.id for row in self.spark.table(f"{self.schema}.{reader}").collect())

    def commits(self, reader: str) -> tuple[int, int]:
        """Snapshots and data files of a reader."""
        table = f"{self.schema}.{reader}"
        return (
            self.spark.table(f"{table}.snapshots").count(),
            self.spark.table(f"{table}.all_data_files").select("file_path").distinct().count(),
        )

    def all_commits(self) -> dict[str, tuple[int, int]]:
        return {reader: self.commits(reader) for reader in READERS}


class TestIncrements:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCES_YML,
            "both.sql": BOTH,
            "python_reader.py": PYTHON_READER,
            "sql_reader.sql": SQL_READER,
            "merging_reader.sql": MERGING_READER,
            "reader_of_two.py": READER_OF_TWO,
            "looked_up.sql": LOOKED_UP,
            "reader_of_looked_up.sql": READER_OF_LOOKED_UP,
            "written_anew.sql": WRITTEN_ANEW,
            "written_after.sql": "{{ config(materialized='table') }} select 1 as n",
        }

    @pytest.fixture
    def landing(self, project, spark) -> Landing:
        """Rows 1 and 2 in a, 10 in b, and readers that have read them."""
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.append("a", 1, 2)
        landing.append("b", 10)
        landing.run("--full-refresh", "--exclude", "reader_of_two", "reader_of_looked_up")
        return landing

    @pytest.fixture
    def elsewhere(self, spark, landing) -> Iterator[Landing]:
        """The tables in another schema, with row 21 in a."""
        elsewhere = Landing(spark, f"{landing.schema}_elsewhere")
        elsewhere.sql("create namespace {}")
        elsewhere.create()
        elsewhere.append("a", 21)
        yield elsewhere
        for table in ("a", "b"):
            elsewhere.sql(f"drop table {{}}.{table} purge")
        elsewhere.sql("drop namespace {}")

    run_readers = ("--select", *READERS)

    def test_a_run_appends_exactly_the_rows_that_are_new(self, landing):
        landing.append("a", 3)
        landing.append("b", 11)
        landing.append("b", 12)
        landing.run(*self.run_readers)
        for reader in READERS:
            assert landing.ids(reader) == [1, 2, 3, 10, 11, 12]
        landing.append("b", 13)
        landing.run(*self.run_readers)
        for reader in READERS:
            assert landing.ids(reader) == [1, 2, 3, 10, 11, 12, 13]
            newest = landing.spark.sql(
                f"select summary['added-records'] as rows from {landing.schema}.{reader}.snapshots"
                " order by committed_at desc limit 1"
            )
            assert newest.first().rows == "1"

    def test_an_append_that_does_not_count_its_rows_has_new_rows(self, landing):
        a, reader = f"{landing.schema}.a", f"{landing.schema}.sql_reader"
        landing.append("a", 3)
        forget_counts(landing.spark, a)
        landing.run(*self.run_readers)
        for name in READERS:
            assert landing.ids(name) == [1, 2, 3, 10]
        assert set(landing.run(*self.run_readers).values()) == {"OK, nothing new"}

        landing.append("a", 4, 5)
        forget_counts(landing.spark, a)
        rows, count = unread_rows(landing.spark, a, reader)
        assert (ids_of(landing.spark, rows), count) == ([4, 5], 2)
        rows, count = unread_rows(landing.spark, a, None)
        assert (ids_of(landing.spark, rows), count) == ([1, 2, 3, 4, 5], 5)

    def test_with_nothing_new_nothing_is_written(self, landing):
        before = landing.all_commits()
        messages = landing.run(*self.run_readers)
        assert {messages[reader] for reader in READERS} == {"OK, nothing new"}
        assert landing.all_commits() == before

    def test_a_run_that_fails_leaves_its_rows_to_the_next(self, landing):
        before = landing.all_commits()
        landing.append("a", 3)
        messages = landing.run(*self.run_readers, is_broken=True, expect_pass=False)
        for reader in READERS:
            assert "broken on purpose" in messages[reader]
        assert landing.all_commits() == before
        landing.run(*self.run_readers)
        for reader in READERS:
            assert landing.ids(reader) == [1, 2, 3, 10]

    def test_compaction_and_deletes_at_an_input_bring_no_new_rows(self, landing):
        landing.append("a", 3)
        landing.compact("a")
        landing.sql("delete from {}.b where id = 10")
        landing.run(*self.run_readers)
        for reader in READERS:
            assert landing.ids(reader) == [1, 2, 3, 10]
        assert set(landing.run(*self.run_readers).values()) == {"OK, nothing new"}

    def test_compaction_of_a_reader_does_not_make_it_forget(self, landing):
        for reader in READERS:
            landing.compact(reader)
        landing.append("a", 3)
        landing.run(*self.run_readers)
        for reader in READERS:
            assert landing.ids(reader) == [1, 2, 3, 10]

    def test_snapshots_that_every_reader_has_read_may_expire(self, landing):
        for id in range(3, 6):
            landing.append("a", id)
        landing.run("--select", "sql_reader")
        a = iceberg_table(landing.spark, f"{landing.schema}.a")
        assert landing.watermark("sql_reader", "a") == a.currentSnapshot().snapshotId()

        landing.expire("a")

        landing.append("a", 6)
        messages = landing.run(*self.run_readers, expect_pass=False)
        assert landing.ids("sql_reader") == [*range(1, 7), 10]
        # These had not read what expired.
        for reader in ("python_reader", "merging_reader"):
            assert f"{landing.schema}.a was rebuilt, or its snapshots expired" in messages[reader]
            assert landing.ids(reader) == [1, 2, 10]

    def test_a_model_that_fails_leaves_its_watermarks_to_no_other_write(self, landing):
        landing.append("a", 3)
        results = landing.run(
            "--select",
            "sql_reader",
            "written_after",
            "--threads",
            "1",
            expect_pass=False,
            is_broken=True,
        )
        assert list(results) == ["sql_reader", "written_after"]
        assert "broken on purpose" in results["sql_reader"]
        table = iceberg_table(landing.spark, f"{landing.schema}.written_after")
        assert [watermarks_in(snapshot) for snapshot in snapshots(landing.spark, table)] == [{}]

    def test_a_reader_whose_notes_have_expired_does_not_read_twice(self, landing):
        reader = f"{landing.schema}.sql_reader"
        landing.compact("sql_reader")
        landing.expire("sql_reader")
        landing.append("a", 3)
        messages = landing.run("--select", "sql_reader", expect_pass=False)
        assert f"in which {reader} committed its watermarks" in messages["sql_reader"]
        assert "--full-refresh" in messages["sql_reader"]
        assert landing.ids("sql_reader") == [1, 2, 10]

    def test_a_rebuilt_input_is_an_error_that_says_what_to_do(self, landing):
        landing.create()
        landing.append("a", 7)
        messages = landing.run(*self.run_readers, expect_pass=False)
        for reader in READERS:
            assert f"{landing.schema}.a was rebuilt" in messages[reader]
            assert f"rebuild {landing.schema}.{reader}" in messages[reader]
            assert "--full-refresh" in messages[reader]
            assert landing.ids(reader) == [1, 2, 10]
        landing.run(*self.run_readers, "--full-refresh")
        landing.append("a", 8)
        landing.run(*self.run_readers)
        for reader in READERS:
            assert landing.ids(reader) == [7, 8]

    @pytest.mark.parametrize(
        "statement",
        [
            "update {}.a set text = 'changed' where id = 1",
            "create or replace table {}.a as select 7L as id, 'row 7' as text",
        ],
    )
    def test_an_overwritten_input_is_an_error_that_says_what_to_do(self, landing, statement):
        landing.sql(statement)
        messages = landing.run(*self.run_readers, expect_pass=False)
        for reader in READERS:
            assert f"{landing.schema}.a was overwritten" in messages[reader]
            assert f"rebuild {landing.schema}.{reader}" in messages[reader]
            assert "--full-refresh" in messages[reader]

    def test_an_input_that_is_in_another_schema_is_an_error_that_says_what_to_do(
        self, landing, elsewhere
    ):
        before = landing.all_commits()
        select = ("--select", "both", *READERS)
        messages = landing.run(*select, landing_schema=elsewhere.schema, expect_pass=False)
        moved = f"has read {landing.schema}.a, and now reads {elsewhere.schema}.a"
        for reader in READERS:
            assert moved in messages[reader]
            assert f"rebuild {landing.schema}.{reader}" in messages[reader]
            assert "--full-refresh" in messages[reader]
        assert landing.all_commits() == before
        reader = f"{landing.schema}.sql_reader"
        with pytest.raises(DbtRuntimeError, match="and now reads"):
            unread_rows(landing.spark, f"{elsewhere.schema}.a", reader)

        landing.run(*select, "--full-refresh", landing_schema=elsewhere.schema)
        elsewhere.append("a", 22)
        landing.run(*select, landing_schema=elsewhere.schema)
        for reader in READERS:
            assert landing.ids(reader) == [21, 22]

    @pytest.mark.parametrize("is_first", [True, False])
    def test_a_model_may_also_read_a_table_of_this_name_in_another_schema(
        self, landing, elsewhere, is_first
    ):
        run = IncrementalRead(landing.spark, f"{landing.schema}.sql_reader", is_incremental=True)
        here, there = f"{landing.schema}.a", f"{elsewhere.schema}.a"
        for name in (there, here) if is_first else (here, there):
            run.new_rows(name)
        run.begin_commit()
        run.end_commit()
        assert ids_of(landing.spark, run.new_rows(there)) == [21]

    def test_an_input_that_had_no_rows_may_be_in_another_schema(self, landing, elsewhere):
        landing.create()
        landing.run(*self.run_readers, "--full-refresh")
        landing.run("--select", "both", *READERS, landing_schema=elsewhere.schema)
        for reader in READERS:
            assert landing.ids(reader) == [21]

    def test_rows_that_a_view_leaves_out_count_as_read(self, landing):
        landing.append("b", -1)
        landing.run(*self.run_readers)
        messages = landing.run(*self.run_readers)
        for reader in ("python_reader", "sql_reader"):
            assert messages[reader] == "OK, nothing new"
            assert landing.ids(reader) == [1, 2, 10]

    def test_an_input_that_was_empty_is_read_from_its_first_row(self, landing):
        landing.create()
        landing.append("a", 1)
        landing.run(*self.run_readers, "--full-refresh")
        landing.append("b", 10, 11)
        landing.run(*self.run_readers)
        for reader in READERS:
            assert landing.ids(reader) == [1, 10, 11]

    def test_a_model_of_two_inputs_runs_where_either_has_new_rows(self, landing):
        select = ("--select", "reader_of_two")
        landing.run(*select, "--full-refresh")
        landing.append("b", 11)
        landing.run(*select)
        assert landing.ids("reader_of_two") == [1, 2, 10, 11]
        landing.append("a", 3)
        landing.run(*select)
        assert landing.ids("reader_of_two") == [1, 2, 3, 10, 11]
        assert landing.run(*select) == {"reader_of_two": "OK, nothing new"}

    def test_what_a_view_joins_is_looked_up_whole(self, landing):
        select = ("--select", "reader_of_looked_up")
        landing.append("b", 2, 3)
        landing.run(*select, "--full-refresh")
        landing.append("b", 4)
        assert landing.run(*select) == {"reader_of_looked_up": "OK, nothing new"}
        landing.append("a", 3, 4, 5)
        landing.run(*select)
        rows = landing.spark.table(f"{landing.schema}.reader_of_looked_up").collect()
        assert {(row.id, row.text) for row in rows} == {
            (1, None),
            (2, "row 2"),
            (3, "row 3"),
            (4, "row 4"),
            (5, None),
        }

    def test_a_view_may_tell_which_commit_brought_a_row(self, landing):
        select = ("--select", "reader_of_looked_up")
        landing.run(*select, "--full-refresh")
        landing.append("a", 3)
        landing.append("a", 4)
        landing.run(*select)
        landing.compact("a")
        reader = landing.spark.table(f"{landing.schema}.reader_of_looked_up")
        commits = {row.id: row.landing for row in reader.collect()}
        assert commits[1] == commits[2] < commits[3] < commits[4]
        looked_up = landing.spark.table(f"{landing.schema}.looked_up")
        assert {row.id: row.landing for row in looked_up.collect()} == commits

    def test_rows_that_land_during_a_run_are_left_to_the_next(self, landing):
        spark, a = landing.spark, f"{landing.schema}.a"
        rebuild = IncrementalRead(spark, f"{landing.schema}.new_reader", is_incremental=False)
        everything = rebuild.new_rows(a)
        landing.append("a", 3)
        increment = IncrementalRead(spark, f"{landing.schema}.sql_reader", is_incremental=True)
        new = increment.new_rows(a)
        landing.append("a", 4)
        assert ids_of(spark, everything) == [1, 2]
        assert ids_of(spark, new) == [3]
        assert rebuild.new_rows(a) == everything

    def test_after_its_commit_a_run_sees_what_it_has_read(self, landing):
        spark, a = landing.spark, f"{landing.schema}.a"
        reader = f"{landing.schema}.sql_reader"
        landing.append("a", 3)
        run = IncrementalRead(spark, reader, is_incremental=True)
        new = run.new_rows(a)
        assert run.new_rows(a) == new
        run.begin_commit()
        spark.sql(f"insert into {reader} select id, text from {new}")
        run.end_commit()
        assert ids_of(spark, run.new_rows(a)) == []
        assert ids_of(spark, IncrementalRead(spark, reader, is_incremental=True).new_rows(a)) == []

    @pytest.mark.parametrize("first", ["new", "all"])
    def test_a_query_may_read_new_rows_beside_all_rows(self, landing, first):
        landing.append("a", 3)
        both = f"{landing.schema}.both"
        reader = f"{landing.schema}.sql_reader"
        new = IncrementalRead(landing.spark, reader, is_incremental=True).new_rows(both)
        queries = [
            f"select '{label}' as label, id from {expression}"
            for label, expression in sorted({"new": new, "all": both}.items())
        ]
        if first == "new":
            queries.reverse()
        rows = landing.spark.sql(" union all ".join(queries)).collect()
        assert sorted(row.id for row in rows if row.label == "new") == [3]
        assert sorted(row.id for row in rows if row.label == "all") == [1, 2, 3, 10]

    @pytest.mark.parametrize("reader", ["sql_reader", "python_reader"])
    def test_an_empty_run_reads_nothing_and_notes_nothing(self, landing, reader):
        landing.append("a", 3)
        landing.run("--select", reader, "--empty")
        assert landing.ids(reader) == [1, 2, 10]
        landing.run("--select", reader)
        assert landing.ids(reader) == [1, 2, 3, 10]

    def test_an_empty_run_leaves_a_table_with_rows_as_it_is(self, landing):
        select = ("--select", "written_anew", "merging_reader", "python_reader")
        before = {**landing.all_commits(), "written_anew": landing.commits("written_anew")}
        messages = landing.run(*select, "--empty")
        assert set(messages.values()) == {"OK, nothing written"}
        assert {reader: landing.commits(reader) for reader in before} == before
        assert landing.ids("written_anew") == [1, 2, 10]
        landing.run(*select, "--empty", "--full-refresh")
        assert landing.ids("written_anew") == []
        landing.run(*select)
        assert landing.ids("written_anew") == [1, 2, 10]

    def test_an_empty_run_fails_where_the_query_is_wrong(self, landing, project):
        wrong = SQL_READER.replace("    text", "    no_such_column")
        write_file(wrong, project.project_root, "models", "sql_reader.sql")
        try:
            messages = landing.run("--select", "sql_reader", "--empty", expect_pass=False)
        finally:
            write_file(SQL_READER, project.project_root, "models", "sql_reader.sql")
        assert "no_such_column" in messages["sql_reader"]


def ids_of(spark: SparkSession, expression: str) -> list[int]:
    return sorted(row.id for row in spark.sql(f"select id from {expression}").collect())


class TestInputsThatAreBehind:
    """A model that reads the new rows of a log, and a state made from it that may be behind."""

    marts = ("mart", "python_mart")

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+schema": "{{ var('custom_schema', none) }}"}}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCES_YML + PYTHON_MART_YML,
            "log.sql": LOG,
            "state.sql": STATE,
            "copy.sql": COPY,
            "shown.sql": "select * from {{ ref('state') }}",
            "mart.sql": MART,
            "python_mart.py": PYTHON_MART,
        }

    @pytest.fixture
    def landing(self, project, spark) -> Landing:
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.append("a", 1, 2)
        landing.run("--full-refresh")
        return landing

    def check(self, landing: Landing, *ids: int) -> None:
        for mart in self.marts:
            assert landing.ids(mart) == list(ids)

    @pytest.mark.parametrize("refresh", [(), ("--full-refresh",)])
    def test_rows_that_the_state_has_not_read_are_left_to_a_later_run(self, landing, refresh):
        landing.append("a", 3)
        landing.run("--select", "log")
        landing.run("--select", *self.marts, *refresh)
        self.check(landing, 1, 2)
        landing.run()
        self.check(landing, 1, 2, 3)
        self.check(landing, 1, 2, 3)

    def test_what_is_ahead_of_the_state_is_read_step_by_step(self, landing):
        landing.append("a", 3)
        landing.run("--select", "log", "state", "copy")
        landing.append("a", 4)
        landing.run("--select", "log")
        landing.run("--select", *self.marts)
        self.check(landing, 1, 2, 3)
        landing.run()
        self.check(landing, 1, 2, 3, 4)

    def test_a_state_that_leaves_rows_out_holds_nobody_back(self, landing):
        landing.append("a", -1)
        landing.run()
        messages = landing.run("--select", *self.marts)
        assert {messages[mart] for mart in self.marts} == {"OK, nothing new"}
        landing.append("a", 3)
        landing.run()
        self.check(landing, 1, 2, 3)

    def test_compaction_of_the_log_holds_nobody_back(self, landing):
        landing.append("a", 3)
        landing.run("--select", "log", "state", "copy")
        landing.compact("log")
        landing.run("--select", *self.marts)
        self.check(landing, 1, 2, 3)
        landing.append("a", 4)
        landing.run()
        self.check(landing, 1, 2, 3, 4)

    def test_a_state_that_is_behind_in_another_schema_is_waited_for(self, landing, project):
        """With --defer, the mart of one schema reads the models of another."""
        landing.append("a", 3)
        landing.run("--select", "log")
        state = shutil.copytree(Path(project.project_root, "target"), "state")
        deferred = ("--select", "mart", "--defer", "--state", str(state))
        landing.run(*deferred, custom_schema="elsewhere")
        elsewhere = Landing(landing.spark, f"{landing.schema}_elsewhere")
        assert elsewhere.ids("mart") == [1, 2]
        landing.run("--select", "state")
        landing.run(*deferred, custom_schema="elsewhere")
        assert elsewhere.ids("mart") == [1, 2, 3]

    def test_what_was_read_before_stays_read(self, landing):
        """Even where another input has read less since, as one that was brought back has."""
        landing.append("a", 3)
        landing.run("--select", "log", "state", "copy")
        landing.run("--select", *self.marts)
        landing.roll_back("state")
        messages = landing.run("--select", "mart")
        assert messages["mart"] == "OK, nothing new"

    def test_a_rebuilt_log_is_an_error_that_says_what_to_do(self, landing):
        landing.run("--select", "log", "--full-refresh")
        messages = landing.run("--select", *self.marts, "--full-refresh", expect_pass=False)
        for mart, behind in zip(self.marts, ("state", "copy"), strict=True):
            assert f"{landing.schema}.log was rebuilt" in messages[mart]
            assert f"rebuild {landing.schema}.{behind}" in messages[mart]

    def test_an_input_that_was_empty_when_it_was_read_is_waited_for(self, landing):
        landing.sql("create or replace table {}.log (id bigint, text string)")
        landing.run("--full-refresh", "--exclude", "log")
        landing.append("log", 3)
        landing.run("--select", *self.marts)
        self.check(landing)
        landing.run("--exclude", "log")
        self.check(landing, 3)


class TestViewsOfTablesWithRows:
    """A view shows a log from its first rows on, and a state made from the view may be behind."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": SOURCES_YML, **LOGS_AND_MART}

    @pytest.fixture
    def landing(self, project, spark) -> Landing:
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.append("a", 1)
        landing.run("--full-refresh")
        landing.append("b", 10)
        return landing

    def test_first_rows_that_the_state_has_not_read_are_left_to_a_later_run(self, landing):
        landing.run("--select", "log_b", "logs")
        landing.run("--select", "mart")
        landing.run()
        assert landing.ids("mart") == [1, 10]

    def test_a_model_that_looks_them_up_holds_nobody_back(self, landing):
        landing.run("--select", "log_b", "logs")
        landing.run("--select", "beside")
        assert landing.ids("beside") == [10]


class TestLookedUpModels:
    """A view looks up rows of a model, which often has none."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCES_YML,
            "log_a.sql": LOG,
            "log_b.sql": LOG.replace("'a'", "'b'"),
            "looked_up.sql": LOOKED_UP.replace("source('landing', 'a')", "ref('log_a')").replace(
                "source('landing', 'b')", "ref('log_b')"
            ),
            "reader_of_looked_up.sql": READER_OF_LOOKED_UP,
        }

    @pytest.fixture
    def landing(self, project, spark) -> Landing:
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.append("a", 1)
        landing.run("--full-refresh")
        return landing

    def rows(self, landing: Landing) -> set[tuple[int, str | None]]:
        reader = landing.spark.table(f"{landing.schema}.reader_of_looked_up")
        return {(row.id, row.text) for row in reader.collect()}

    def joins(self, landing: Landing, *inputs: str) -> bool:
        """Whether a model with these inputs joins anything for all rows of the view."""
        reader, view = f"{landing.schema}.new_reader", f"{landing.schema}.looked_up"
        found = [Input(f"{landing.schema}.{name}") for name in inputs]
        rows = IncrementalRead(landing.spark, reader, False, lambda: found).new_rows(view)
        query = landing.spark.sql(f"select * from {rows}")
        return "Join" in query._jdf.queryExecution().optimizedPlan().toString()

    def test_a_model_without_rows_is_not_joined(self, landing):
        assert not self.joins(landing, "log_a", "log_b")
        # A table that is no model may get rows while the model runs.
        assert self.joins(landing, "log_a")
        landing.append("b", 1)
        landing.run("--select", "log_b")
        assert self.joins(landing, "log_a", "log_b")

    def test_rows_that_come_later_are_looked_up_by_later_runs(self, landing):
        assert self.rows(landing) == {(1, None)}
        landing.append("b", 1, 2)
        landing.append("a", 2)
        landing.run()
        assert self.rows(landing) == {(1, None), (2, "row 2")}
        landing.run("--select", "reader_of_looked_up", "--full-refresh")
        assert self.rows(landing) == {(1, "row 1"), (2, "row 2")}
        landing.sql("delete from {}.log_b")
        landing.append("a", 3)
        landing.run()
        assert self.rows(landing) == {(1, "row 1"), (2, "row 2"), (3, None)}


class TestRequests:
    """What a model asks of the catalog while it is compiled and written."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCES_YML + PYTHON_MART_YML,
            "log.sql": LOG,
            "exceptions.sql": EXCEPTIONS,
            "of_exceptions.sql": OF_EXCEPTIONS,
            "counting.sql": COUNTING,
            "state.sql": STATE,
            "shown.sql": "select * from {{ ref('state') }}",
            "copy.sql": COPY,
            "mart.sql": MART,
            "python_mart.py": PYTHON_MART,
        }

    @pytest.fixture
    def loads(self, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
        """How often each table and view was loaded by its name."""
        loads: Counter[str] = Counter()

        def counted(load: Callable[..., Any]) -> Callable[..., Any]:
            def counting(session: SparkSession, name: str) -> Any:
                loads[f"{load.__name__} {name}"] += 1
                return load(session, name)

            return counting

        for load in (catalog.iceberg_table, catalog._view):
            monkeypatch.setattr(catalog, load.__name__, counted(load))
        return loads

    @pytest.mark.parametrize("model", ["counting", "mart", "python_mart", "of_exceptions"])
    def test_a_model_loads_each_name_once(self, project, spark, loads, model):
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.append("a", 1, 2)
        landing.run("--full-refresh")
        landing.append("a", 3, -3)
        for options in (["--full-refresh"], [], []):
            landing.run("--exclude", model)
            loads.clear()
            landing.run("--select", model, *options)
            assert loads[f"iceberg_table {project.test_schema}.log"] == (model != "of_exceptions")
            assert set(loads.values()) == {1}


class TestRowsSoFar:
    """A model that reads the new rows of a log, and all that it has read of it."""

    readers = ("counting", "python_counting")

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCES_YML + PYTHON_COUNTING_YML,
            "log.sql": LOG,
            "exceptions.sql": EXCEPTIONS,
            "of_exceptions.sql": OF_EXCEPTIONS,
            "counting.sql": COUNTING,
            "python_counting.py": PYTHON_COUNTING,
            "only_counting.sql": ONLY_COUNTING,
        }

    @pytest.fixture
    def landing(self, project, spark) -> Landing:
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.append("a", 1, 2)
        landing.run("--full-refresh")
        return landing

    def check(self, landing: Landing, **counts: str) -> None:
        for reader in self.readers:
            rows = landing.spark.table(f"{landing.schema}.{reader}").collect()
            assert {f"row_{row.id}": row.text for row in rows} == counts

    def test_they_end_where_the_new_rows_end(self, landing):
        """Here at what the models have read that both are made from."""
        landing.append("a", 3)
        landing.run("--select", "log", "exceptions", "of_exceptions")
        landing.append("a", 4)
        landing.run("--select", "log")
        landing.run("--select", *self.readers)
        self.check(landing, row_1="2", row_2="2", row_3="3")
        landing.run()
        self.check(landing, row_1="2", row_2="2", row_3="3", row_4="4")

    def test_a_model_without_new_rows_is_updated_by_each_run(self, landing):
        landing.append("a", 3)
        landing.run()
        counts = landing.spark.table(f"{landing.schema}.only_counting").collect()
        assert [row.rows for row in counts] == [3]

    def test_an_input_without_new_rows_holds_nobody_back(self, landing):
        for id in (3, 4):
            landing.append("a", id)
            messages = landing.run()
            assert messages["of_exceptions"] == "OK, nothing new"
        self.check(landing, row_1="2", row_2="2", row_3="3", row_4="4")


SAMPLED_YML = """
sources:
  - name: landing
    schema: "{{ target.schema }}"
    tables: [{name: a, config: {event_time: text}}]
"""
SAMPLED_READERS = {
    "sampled.sql": LOG,
    "so_far.sql": LOG.replace("new_rows", "rows_so_far"),
    "of_function.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        select * from {{ dataframe(
            'test_increments:changed_rows', changed_inputs={'a': source('landing', 'a')}
        ) }}
        """,
}


def changed_rows(session: SparkSession, run: ModelRun) -> DataFrame:
    return run.changed_rows("a")


class TestSamples:
    """A run with --sample, for which dbt selects the rows of an input by their time."""

    sample = ("--sample", "{'start': '2026-01-01', 'end': '2026-01-02'}")

    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": SAMPLED_YML, **SAMPLED_READERS}

    def test_a_sample_leaves_a_table_with_rows_as_it_is(self, project, spark):
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.sql("insert into {}.a values (1, '2026-01-01 10:00'), (2, '2026-01-03 10:00')")
        landing.run("--full-refresh")
        readers = [name.removesuffix(".sql") for name in SAMPLED_READERS]
        before = {reader: landing.commits(reader) for reader in readers}

        assert set(landing.run(*self.sample).values()) == {"OK, nothing written"}

        assert {reader: landing.commits(reader) for reader in readers} == before

    def test_a_table_that_has_a_sample_is_rebuilt_before_it_reads_increments(self, project, spark):
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.sql("insert into {}.a values (1, '2026-01-01 10:00'), (2, '2026-01-03 10:00')")
        landing.run(*self.sample, "--full-refresh")
        assert landing.ids("sampled") == [1]
        message = landing.run("--select", "sampled", expect_pass=False)["sampled"]
        assert f"{landing.schema}.sampled was built with --sample" in message
        landing.run("--select", "sampled", "--full-refresh")
        assert landing.run("--select", "sampled") == {"sampled": "OK, nothing new"}


GROWING = """
{{ config(materialized='incremental', incremental_strategy='append', on_schema_change='fail') }}
select id, text as more from {{ new_rows(source('landing', 'a')) }}
"""
GROWING_YML = """
models:
  - name: growing
    columns: [{name: id}, {name: More}]
"""


class TestNewColumns:
    """The table of a model lacks a column that the model has."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": SOURCES_YML, "growing.sql": GROWING, "growing.yml": GROWING_YML}

    @pytest.mark.parametrize("has_new_rows", [True, False])
    def test_the_message_says_how_to_rebuild_it(self, project, spark, has_new_rows):
        landing = Landing(spark, project.test_schema)
        landing.create()
        landing.append("a", 1)
        write_file(GROWING.replace(", text as more", ""), "models", "growing.sql")
        write_file(GROWING_YML.replace(", {name: More}", ""), "models", "growing.yml")
        landing.run("--full-refresh")
        if has_new_rows:
            landing.append("a", 2)
        write_file(GROWING, "models", "growing.sql")
        write_file(GROWING_YML, "models", "growing.yml")
        message = landing.run(expect_pass=False)["growing"]
        assert "new more, gone none" in message
        assert "dbt run --full-refresh --select growing+ --target default" in message
        landing.run("--full-refresh")
        assert landing.run()["growing"] == "OK, nothing new"
