"""Tests over Spark's own catalog, without Iceberg; `test_plain_tables.py` runs them."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import BaseIncremental
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.util import run_dbt


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


class TestSingularTests(BaseSingularTests):
    pass


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pass


class TestEmpty(BaseEmpty):
    pass


class TestEphemeral(BaseEphemeral):
    pass


class TestIncremental(BaseIncremental):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestTableMaterialization(BaseTableMaterialization):
    pass


class TestAdapterMethods(BaseAdapterMethod):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass


BY_DAY = """
{{ config(
    materialized='incremental', incremental_strategy='insert_overwrite', partition_by='day'
) }}
{% if is_incremental() %}
select 'new' as state, 2 as day
{% else %}
select 'old' as state, explode(array(1, 2)) as day
{% endif %}
"""

PYTHON = """
def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return dbt.ref("numbers").where("n > 1")
"""


class TestModels:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"numbers.csv": "n,text\n1,it's\n2,a\\b\n"}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "by_day.sql": BY_DAY,
            "in_python.py": PYTHON,
            "a_view.sql": "select * from {{ ref('numbers') }}",
            "of_no_format.sql": "{{ config(materialized='incremental', file_format=none) }}"
            " select 1 as id",
            "merged.sql": "{{ config(materialized='incremental', incremental_strategy='merge',"
            " unique_key='id', enabled=var('merged', false)) }} select 1 as id",
            "by_increments.sql": "{{ config(materialized='incremental',"
            " enabled=var('increments', false)) }} select * from {{ new_rows(ref('numbers')) }}",
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        run_dbt(["build"])
        run_dbt(["build"])

    def rows(self, project, spark, name: str) -> list[tuple]:
        return sorted(tuple(row) for row in spark.table(f"{project.test_schema}.{name}").collect())

    def test_a_partition_is_replaced(self, project, spark):
        assert self.rows(project, spark, "by_day") == [("new", 2), ("old", 1)]

    def test_a_python_model_appends(self, project, spark):
        assert self.rows(project, spark, "in_python") == [(2, "a\\b")] * 2

    def test_a_seed_has_its_texts_and_a_view_reads_it(self, project, spark):
        rows = [(1, "it's"), (2, "a\\b")]
        assert self.rows(project, spark, "numbers") == rows
        assert self.rows(project, spark, "a_view") == rows

    def test_a_table_of_no_format_is_parquet(self, project, spark):
        assert self.rows(project, spark, "of_no_format") == [(1,), (1,)]
        table = spark.sql(f"describe extended {project.test_schema}.of_no_format").collect()
        assert ("Provider", "parquet") in {(row.col_name, row.data_type) for row in table}

    def test_everything_is_built_anew(self, project, spark):
        run_dbt(["build", "--full-refresh"])
        assert self.rows(project, spark, "in_python") == [(2, "a\\b")]

    def test_what_needs_iceberg_says_so(self, project):
        increments = run_dbt(
            ["run", "-s", "by_increments", "--vars", "increments: true"], expect_pass=False
        )
        assert "its catalog is not Iceberg's" in increments[0].message
        merged = run_dbt(["run", "-s", "merged", "--vars", "merged: true"], expect_pass=False)
        assert "file_format is set to 'delta' or 'iceberg'" in merged[0].message
