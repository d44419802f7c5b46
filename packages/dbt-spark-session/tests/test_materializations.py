"""Tables: their types, how they are replaced, what runs around them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

VARIANTS = """
{{ config(materialized=var('materialized', 'table')) }}
select 9007199254740993L as id, parse_json('{"n": 9007199254740993, "text": "é\\\\\\\\"}') as image
"""


class TestVariant:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "images.sql": VARIANTS,
            "more_images.sql": "{{ config(materialized='incremental') }}"
            " select * from {{ ref('images') }}",
            "image_view.sql": "select id, image:n::bigint as n from {{ ref('more_images') }}",
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        run_dbt(["run"])
        run_dbt(["run", "--select", "more_images"])

    @pytest.mark.parametrize(("table", "row_count"), [("images", 1), ("more_images", 2)])
    def test_a_table_holds_variants_exactly(self, project, spark, table, row_count):
        images = spark.table(f"{project.test_schema}.{table}")
        assert images.dtypes == [("id", "bigint"), ("image", "variant")]
        rows = [json.loads(row.image.toJson()) for row in images.collect()]
        assert rows == [{"n": 9007199254740993, "text": "é\\"}] * row_count

    def test_a_view_reads_fields_of_variants(self, project, spark):
        rows = spark.table(f"{project.test_schema}.image_view").collect()
        assert {row.n for row in rows} == {9007199254740993}

    def test_dbt_show_prints_nested_values_as_json(self, project):
        query = (
            "select image, array(1, 2) as a, map('k', named_struct('x', 1L, 'y', null)) as m,"
            " cast('é' as binary) as b from {{ ref('images') }}"
        )
        (row,) = run_dbt(["show", "--inline", query]).results[0].agate_table.rows
        assert json.loads(row["image"])["n"] == 9007199254740993
        assert (row["a"], row["m"], row["b"]) == ("[1,2]", '{"k":{"x":1,"y":null}}', "é")


class TestReplacement:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "replaced.sql": "{{ config(materialized='table') }} select {{ var('value') }} as value",
            "of_no_format.sql": "{{ config(materialized='table', file_format=none) }}"
            " select {{ var('value') }} as value",
        }

    def run(self, model: str, value: str, **options):
        return run_dbt(["run", "-s", model, "--vars", json.dumps({"value": value})], **options)

    def values(self, project, spark, model: str) -> list[int]:
        return [row.value for row in spark.table(f"{project.test_schema}.{model}").collect()]

    def test_a_table_that_cannot_be_rebuilt_keeps_its_rows(self, project, spark):
        self.run("replaced", "1")
        results = self.run("replaced", "raise_error('broken row')", expect_pass=False)
        assert "broken row" in results[0].message
        assert "\tat " not in results[0].message
        assert self.values(project, spark, "replaced") == [1]

    @pytest.mark.parametrize("model", ["replaced", "of_no_format"])
    def test_a_rebuilt_table_keeps_its_history(self, project, spark, model):
        self.run(model, "1")
        before = spark.table(f"{project.test_schema}.{model}.snapshots").count()
        self.run(model, "2")
        assert self.values(project, spark, model) == [2]
        assert spark.table(f"{project.test_schema}.{model}.snapshots").count() == before + 1


class TestClone:
    @pytest.fixture(scope="class")
    def models(self):
        return {"cloned.sql": "{{ config(materialized='table') }} select 1 as id"}

    def test_it_says_what_to_do_instead(self, project, spark):
        run_dbt(["run"])
        state = shutil.copytree(Path(project.project_root, "target"), "state")
        spark.sql(f"drop table {project.test_schema}.cloned purge")
        [result] = run_dbt(["clone", "--state", str(state)], expect_pass=False)
        assert "`dbt clone` copies only tables of Delta" in result.message
        assert f"{project.test_schema}.cloned" in result.message


DESCRIBED = """
models:
  - name: described
    columns:
      - name: id
        description: the number of the row
"""

OF_DESCRIBED = """
snapshots:
  - name: of_described
    relation: ref('described')
    config: {unique_key: id, strategy: check, check_cols: all}
"""


class TestNoFileFormat:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        no_format = {"+file_format": None}
        return {
            "models": {**no_format, "+persist_docs": {"columns": True}},
            "snapshots": no_format,
        }

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "described.sql": "{{ config(materialized='incremental', unique_key='id',"
            " incremental_strategy='merge') }} select 1 as id",
            "described.yml": DESCRIBED,
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"of_described.yml": OF_DESCRIBED}

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        run_dbt(["build"])
        run_dbt(["build"])

    def test_tables_and_snapshots_are_of_iceberg(self, project, spark):
        for name in ("described", "of_described"):
            table = spark.table(f"{project.test_schema}.{name}")
            assert [row.id for row in table.collect()] == [1]
            assert spark.table(f"{project.test_schema}.{name}.snapshots").count() > 0

    def test_columns_have_their_comments(self, project, spark):
        (field,) = spark.table(f"{project.test_schema}.described").schema
        assert field.metadata["comment"] == "the number of the row"


BY_DAY = """
{{ config(
    materialized='incremental', incremental_strategy='insert_overwrite', partition_by='day'
) }}
{% if is_incremental() %}
select 2 as day, 'new' as state
{% else %}
select explode(array(1, 2)) as day, 'old' as state
{% endif %}
"""


class TestInsertOverwrite:
    @pytest.fixture(scope="class")
    def models(self):
        return {"by_day.sql": BY_DAY}

    def test_only_the_partitions_that_a_run_brings_are_replaced(self, project, spark):
        run_dbt(["run"])
        run_dbt(["run"])
        rows = spark.table(f"{project.test_schema}.by_day").orderBy("day").collect()
        assert [tuple(row) for row in rows] == [(1, "old"), (2, "new")]


#: The macros of a project: one of a strategy of its own, which keeps the rows that are there.
KEEP_FIRST = """
{% macro get_incremental_keep_first_sql(arg_dict) %}
insert into {{ arg_dict['target_relation'] }}
select * from {{ arg_dict['temp_relation'] }} where {{ arg_dict['unique_key'] }} not in (
    select {{ arg_dict['unique_key'] }} from {{ arg_dict['target_relation'] }}
)
{% endmacro %}
"""
KEPT_FIRST = """
{{ config(
    materialized='incremental', incremental_strategy='keep_first', unique_key='id'
) }}
select id, {{ var('amount') }} as amount from values {{ var('ids') }} as keys (id)
"""


class TestStrategies:
    @pytest.fixture(scope="class")
    def macros(self):
        return {"keep_first.sql": KEEP_FIRST}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "kept_first.sql": KEPT_FIRST,
            "of_other_adapters.sql": "{{ config(materialized='incremental',"
            " incremental_strategy='delete+insert', unique_key='id') }} select 1 as id",
        }

    def run(self, ids: str, amount: int):
        variables = json.dumps({"ids": ids, "amount": amount})
        return run_dbt(["run", "-s", "kept_first", "--vars", variables])

    def test_a_project_has_a_strategy_of_its_own(self, project, spark):
        self.run("(1), (2)", 10)
        self.run("(2), (3)", 20)
        rows = spark.table(f"{project.test_schema}.kept_first").collect()
        assert {row.id: row.amount for row in rows} == {1: 10, 2: 10, 3: 20}
        assert len(rows) == 3

    def test_a_strategy_that_only_other_adapters_have_is_an_error(self, project, spark):
        variables = json.dumps({"ids": "(1)", "amount": 1})
        results = run_dbt(
            ["run", "-s", "of_other_adapters", "--vars", variables], expect_pass=False
        )
        assert "'delete+insert' is not valid for this adapter" in results[0].message
        assert not spark.catalog.tableExists(f"{project.test_schema}.of_other_adapters")


CONTRACT_YML = """
models:
  - name: kept
    config: {contract: {enforced: true}, materialized: table}
    columns: &columns
      - {name: id, data_type: bigint}
      - {name: image, data_type: variant}
      - {name: names, data_type: array<string>}
  - name: broken
    config: {contract: {enforced: true}, materialized: table}
    columns: *columns
"""

KEPT = "select 1L as id, parse_json('{}') as image, array('a') as names"


class TestContracts:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "kept.sql": KEPT,
            "broken.sql": KEPT.replace("1L", "'1'"),
            "contract.yml": CONTRACT_YML,
        }

    def test_a_table_has_the_columns_of_its_contract_or_is_not_built(self, project, spark):
        results = run_dbt(["run"], expect_pass=False)
        messages = {result.node.name: result.message for result in results}
        assert spark.table(f"{project.test_schema}.kept").count() == 1
        assert "enforced contract that failed" in messages["broken"]
        assert not spark.catalog.tableExists(f"{project.test_schema}.broken")


PYTHON_MODEL = """
def model(dbt, session):
    return session.range(1)
"""


class TestHooks:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        hooks = {
            "+pre-hook": "insert into {{ target.schema }}.audit values ('before {{ this.name }}')",
            "+post-hook": "insert into {{ target.schema }}.audit select"
            " concat('after {{ this.name }} of ', count(*)) from {{ this }}",
        }
        return {"models": hooks, "seeds": hooks}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"a_seed.csv": "n\n1\n2\n"}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "a_table.sql": "{{ config(materialized='table') }} select 1 as id",
            "an_increment.sql": "{{ config(materialized='incremental') }} select 1 as id",
            "a_python_model.py": PYTHON_MODEL,
        }

    def test_hooks_run_before_and_after_every_kind_of_table(self, project, spark):
        project.run_sql(f"create table {project.test_schema}.audit (line string)")
        run_dbt(["build"])
        row_counts = {"a_seed": 2, "a_table": 1, "an_increment": 1, "a_python_model": 1}
        lines = {row.line for row in spark.table(f"{project.test_schema}.audit").collect()}
        assert lines == {f"before {name}" for name in row_counts} | {
            f"after {name} of {rows}" for name, rows in row_counts.items()
        }


STOCK = """
{{ config(
    materialized='incremental', incremental_strategy='merge', unique_key='id',
    delete_when='DBT_INTERNAL_SOURCE.amount = 0'
) }}
select * from values {{ var('rows') }} as stock (id, amount)
"""


class TestMergeThatDeletes:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "stock.sql": STOCK,
            "another_merge.sql": """
            {%- if execute %}
            {{ replaced_once('merge … WHEN MATCHED', 'when matched then update', '') }}
            {%- endif %}
            """,
        }

    def run(self, rows: str):
        return run_dbt(["run", "-s", "stock", "--vars", json.dumps({"rows": rows})])

    def test_rows_that_say_so_are_deleted(self, project, spark):
        self.run("(1, 10), (2, 20)")
        self.run("(1, 0), (2, 21), (3, 0), (4, 40)")
        rows = spark.table(f"{project.test_schema}.stock").collect()
        assert {row.id: row.amount for row in rows} == {2: 21, 4: 40}

    def test_a_merge_of_another_version_of_dbt_spark_is_an_error(self, project):
        results = run_dbt(
            ["run", "-s", "another_merge", "--vars", json.dumps({"rows": ""})], expect_pass=False
        )
        assert "a merge without `when matched then update`" in results[0].message
