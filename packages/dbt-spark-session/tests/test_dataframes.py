"""A SQL model has the rows of a Python function: `{{ dataframe('package.module:function') }}`."""

from __future__ import annotations

import json
from itertools import count

import pytest
from dbt.adapters.spark_session.connections import SparkSessionConnectionManager
from dbt.adapters.spark_session.dataframes import ModelRun
from dbt.adapters.spark_session.errors import SessionError
from dbt.cli.main import dbtRunner
from dbt.tests.util import run_dbt
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

HERE = __name__

NUMBERS = (
    "{{ config(materialized='incremental') }} select * from {{ new_rows(source('landing', 'a')) }}"
)

SOURCES_YML = """
sources:
  - name: landing
    schema: "{{ target.schema }}"
    tables: [{name: a}]
"""

#: Each number times a factor, merged by the number; the function has its own partitions.
MULTIPLES = f"""
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}}}
{{{{ config(partition_by='id') }}}}
select * from {{{{ dataframe(
    '{HERE}:multiples',
    {{'numbers': ref('numbers')}},
    {{'numbers': ref('numbers')}},
    {{'factor': var('factor', 2)}}
) }}}}
"""

#: What became of each multiple, which replaces what was known of it.
FOLLOWER = f"""
{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
select * from {{{{ dataframe(
    '{HERE}:changed_multiples',
    changed_inputs={{'multiples': ref('multiples')}},
    arguments={{'is_broken': var('is_broken', false)}}
) }}}}
"""

TABLE = "{{ config(materialized='table') }} "
WARNING = (
    f"{TABLE}select * from {{{{ dataframe('{HERE}:warning', {{'numbers': ref('numbers')}}) }}}}"
)
TEMPORARY_VIEWS = f"""
{TABLE}
select * from {{{{ dataframe('{HERE}:temporary_views', {{'multiples': ref('multiples')}}) }}}}
"""
BROKEN = f"{TABLE}select * from {{{{ dataframe('{HERE}:broken', {{'numbers': ref('numbers')}}) }}}}"
UNKNOWN = f"{TABLE}select * from {{{{ dataframe('{HERE}:unknown') }}}}"

VIEW = WARNING.replace("table", "view")

UNIT_TESTS_YML = """
unit_tests:
  - name: a_fixture_has_no_rows_for_python
    model: multiples
    given:
      - input: ref('numbers')
        rows: [{id: 1}]
    expect: {rows: []}
"""


def multiples(session: SparkSession, run: ModelRun, factor: int) -> DataFrame:
    if not run.has_inputs:
        return session.sql("select 1L as id, 2L as multiple where false")
    if run.is_incremental and run.table_property("factor") == str(factor):
        numbers = run.new_rows("numbers")
    else:
        numbers = run.rows("numbers")
        run.rebuild()
    run.keep_property("factor", str(factor))
    run.partition_by(["multiple"] if factor == 3 else [])
    return numbers.select("id", (F.col("id") * factor).alias("multiple"))


def changed_multiples(session: SparkSession, run: ModelRun, is_broken: bool) -> DataFrame:
    before = run.rows_before("multiples").withColumnRenamed("multiple", "before")
    changed = run.changed_rows("multiples")
    if run.is_incremental and run.has_something_to_write:
        run.replace(f"id in ({', '.join(str(row.id) for row in changed.collect())})")
    rows = changed.join(before, "id", "left")
    if is_broken:
        rows = rows.withColumn("before", F.raise_error(F.lit("broken on purpose")).cast("bigint"))
    return rows


def warning(session: SparkSession, run: ModelRun) -> DataFrame:
    run.warn(f"{run.relation} is doubtful")
    return run.rows("numbers")


def temporary_views(session: SparkSession, run: ModelRun) -> DataFrame:
    names = session._jsparkSession.sessionState().catalog().getTempViewNames()
    return session.createDataFrame([[str(names)]], "names string")


def broken(session: SparkSession, run: ModelRun) -> DataFrame:
    return run.rows("numbers").select("no_column")


class TestDataFrames:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCES_YML,
            "unit_tests.yml": UNIT_TESTS_YML,
            "numbers.sql": NUMBERS,
            "multiples.sql": MULTIPLES,
            "follower.sql": FOLLOWER,
            "warning.sql": WARNING,
            "temporary_views.sql": TEMPORARY_VIEWS,
            "broken.sql": BROKEN,
            "unknown.sql": UNKNOWN,
            "view.sql": VIEW,
        }

    @pytest.fixture
    def schema(self, project, spark: SparkSession) -> str:
        """Numbers 1 and 2, and what is made of them."""
        schema = project.test_schema
        spark.sql(f"create or replace table {schema}.a (id bigint)")
        spark.sql(f"insert into {schema}.a values (1), (2)")
        run_dbt(["run", "--full-refresh", "--select", "numbers", "multiples"])
        return schema

    def rows(self, spark: SparkSession, schema: str) -> dict[int, int]:
        return {row.id: row.multiple for row in spark.table(f"{schema}.multiples").collect()}

    def test_a_function_gives_the_rows_of_a_model(self, schema, spark):
        assert self.rows(spark, schema) == {1: 2, 2: 4}

    def test_it_reads_the_rows_that_are_new_to_the_model(self, schema, spark):
        spark.sql(f"update {schema}.multiples set multiple = 0")
        spark.sql(f"insert into {schema}.a values (3)")
        run_dbt(["run", "--select", "numbers", "multiples"])
        assert self.rows(spark, schema) == {1: 0, 2: 0, 3: 6}
        results = run_dbt(["run", "--select", "multiples"])
        assert [result.message for result in results] == ["OK, nothing new"]

    def test_it_may_have_the_table_built_anew_and_keep_properties(self, schema, spark):
        variables = json.dumps({"factor": 3})
        run_dbt(["run", "--select", "multiples", "--vars", variables])
        assert self.rows(spark, schema) == {1: 3, 2: 6}
        [kept] = spark.sql(f"show tblproperties {schema}.multiples ('factor')").collect()
        assert kept.value == "3"

    def test_it_may_say_what_the_table_is_partitioned_by(self, schema, spark):
        def partitioned_by() -> list[str]:
            rows = spark.sql(f"describe {schema}.multiples").collect()
            names = [row.col_name for row in rows]
            return names[names.index("# col_name") + 1 :] if "# col_name" in names else []

        assert partitioned_by() == []
        run_dbt(["run", "--select", "multiples", "--vars", json.dumps({"factor": 3})])
        assert partitioned_by() == ["multiple"]

    def test_it_follows_a_table_whose_rows_change(self, schema, spark):
        def follow() -> dict[int, tuple[int, int | None]]:
            run_dbt(["run", "--select", "follower"])
            found = spark.table(f"{schema}.follower").collect()
            return {row.id: (row.multiple, row.before) for row in found}

        assert follow() == {1: (2, None), 2: (4, None)}
        spark.sql(f"update {schema}.multiples set multiple = 9 where id = 2")
        spark.sql(f"insert into {schema}.multiples values (3, 6)")
        # Compacted rows have not changed.
        spark.sql(f"call system.rewrite_data_files('{schema}.multiples')")
        assert follow() == {1: (2, None), 2: (9, 4), 3: (6, None)}
        written = spark.table(f"{schema}.follower.snapshots").count()
        assert follow() == {1: (2, None), 2: (9, 4), 3: (6, None)}
        assert spark.table(f"{schema}.follower.snapshots").count() == written

    @pytest.mark.parametrize("check", [1, 2, 3])
    def test_a_run_that_lost_its_turn_replaces_nothing(self, schema, spark, monkeypatch, check):
        follow = ["run", "--select", "follower"]
        run_dbt([*follow, "--full-refresh"])
        spark.sql(f"update {schema}.multiples set multiple = 9 where id = 2")
        before = spark.table(f"{schema}.follower.refs").collect()
        checks = count(1)

        def check_turn(_: SparkSessionConnectionManager) -> None:
            if next(checks) == check:
                raise SessionError("lost its turn")

        with monkeypatch.context() as patch:
            patch.setattr(SparkSessionConnectionManager, "check_turn", check_turn)
            [result] = run_dbt(follow, expect_pass=False)

        assert "lost its turn" in result.message
        assert spark.table(f"{schema}.follower.refs").collect() == before

    def test_a_model_that_fails_leaves_its_table_as_it_was(self, schema, spark):
        def state_of_table() -> tuple[list[Row], list[Row], list[Row]]:
            table = f"{schema}.follower"
            statements = (f"select * from {table} order by id", f"select * from {table}.refs")
            rows, references = (spark.sql(statement).collect() for statement in statements)
            return rows, references, spark.sql(f"show tables in {schema}").collect()

        run_dbt(["run", "--select", "follower", "--full-refresh"])
        spark.sql(f"update {schema}.multiples set multiple = 9 where id = 2")
        before = state_of_table()

        variables = json.dumps({"is_broken": True})
        follow = ["run", "--select", "follower"]
        [result] = run_dbt([*follow, "--vars", variables], expect_pass=False)

        assert "broken on purpose" in result.message
        assert state_of_table() == before
        run_dbt(follow)
        rows, references, _ = state_of_table()
        assert [tuple(row) for row in rows] == [(1, 2, None), (2, 9, 4)]
        assert [row.name for row in references] == ["main"]

    def test_a_model_leaves_no_temporary_view_to_the_next_one(self, schema, spark):
        # A thread has one session for all of its models.
        run_dbt(["run", "--threads", "1", "--select", "multiples", "temporary_views"])
        [views] = spark.table(f"{schema}.temporary_views").collect()
        assert views.names == "List()"

    def test_it_may_have_dbt_warn(self, schema):
        warnings: list[str] = []

        def listen(event):
            if event.info.level == "warn":
                warnings.append(event.info.msg)

        command = ["run", "--select", "warning"]
        assert dbtRunner(callbacks=[listen]).invoke(command).success
        assert [text for text in warnings if f"{schema}.warning is doubtful" in text]
        assert not dbtRunner().invoke(["--warn-error", *command]).success

    def test_an_error_names_the_function(self, schema):
        [result] = run_dbt(["run", "--select", "broken"], expect_pass=False)
        assert "no_column" in result.message
        assert f"in {HERE}:broken" in result.message

    def test_a_function_that_is_not_there_is_said(self, schema):
        [result] = run_dbt(["run", "--select", "unknown"], expect_pass=False)
        assert f"There is no function `{HERE}:unknown`" in result.message

    def test_a_view_is_refused(self, schema):
        [result] = run_dbt(["run", "--select", "view"], expect_pass=False)
        assert "A view can't have the rows of a DataFrame" in result.message

    def test_without_its_inputs_a_model_compiles_and_does_not_run(self, schema, spark):
        spark.sql(f"drop table {schema}.numbers")
        [compiled] = run_dbt(["compile", "--select", "multiples"])
        assert compiled.status == "success"
        [result] = run_dbt(["run", "--select", "multiples"], expect_pass=False)
        assert "It reads numbers, which do not exist" in result.message

    def test_a_unit_test_sees_no_rows(self, schema):
        [result] = run_dbt(["test", "--select", "test_type:unit"])
        assert result.status == "pass"
