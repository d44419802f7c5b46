"""A view is created again only where it may have changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dbt.adapters.spark_session import catalog
from dbt.adapters.spark_session.catalog import activate
from dbt.adapters.spark_session.view_checksums import CHECKSUM, is_same_view, view_checksum
from dbt.tests.util import run_dbt, write_file
from pyspark.errors import AnalysisException
from pyspark.sql.catalog import Catalog

NUMBERS = """
{{ config(materialized='table') }} select {{ var('columns', '1 as n') }}
"""
VIEWS_YML = """
models:
  - name: first_view
    description: "{{ var('description', 'Numbers.') }}"
    config: {persist_docs: {relation: true}}
"""


class TestViews:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "numbers.sql": NUMBERS,
            "first_view.sql": "select * from {{ ref('numbers') }}",
            "second_view.sql": (
                "-- a comment before\nwith a as (select * from {{ ref('first_view') }})"
                " select * from a where n > 0 -- and one after"
            ),
            "of_no_table.sql": "select * from range(3)",
            "views.yml": VIEWS_YML,
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        run_dbt(["run"])

    @pytest.fixture
    def restored(self, project, models):
        """The models as they were, after a test that leaves them changed."""
        yield
        write_file(models["second_view.sql"], project.project_root, "models", "second_view.sql")
        run_dbt(["run"])

    def created(self, *arguments: str, **variables: str) -> set[str]:
        """The views that a run creates."""
        results = run_dbt(["run", *arguments, "--vars", json.dumps(variables)])
        return {
            result.node.name
            for result in results
            if result.node.config.materialized == "view" and result.message != "OK, unchanged"
        }

    def test_a_view_that_reads_no_table_is_always_created(self, project):
        assert self.created() == {"of_no_table"}

    def test_a_full_refresh_is_no_reason(self, project):
        assert self.created("--full-refresh") == {"of_no_table"}

    @pytest.mark.usefixtures("restored")
    def test_views_follow_the_columns_of_their_tables(self, project, spark):
        assert self.created(columns="1 as n, 'a' as text") >= {"first_view", "second_view"}
        view = spark.table(f"{project.test_schema}.second_view")
        assert view.columns == ["n", "text"]

    @pytest.mark.usefixtures("restored")
    def test_rows_are_no_reason(self, project, spark):
        assert self.created(columns="2 as n") == {"of_no_table"}
        [row] = spark.table(f"{project.test_schema}.second_view").collect()
        assert row.n == 2

    def test_views_follow_a_setting_that_decides_the_types_of_columns(self, project, spark):
        setting = "spark.sql.decimalOperations.allowPrecisionLoss"
        model = {"config": {}, "columns": {}}
        view = f"{project.test_schema}.of_decimals"
        decimal = "cast(n as decimal(38, 18))"
        query = f"select {decimal} * {decimal} as product from {project.test_schema}.numbers"
        session = spark.newSession()
        activate(session)
        checksum = view_checksum(session, query, model)
        session.sql(f"create view {view} tblproperties ('{CHECKSUM}' = '{checksum}') as {query}")
        assert is_same_view(session, view, query, model)
        session.conf.set(setting, "false")
        with pytest.raises(AnalysisException, match="CANNOT_UP_CAST_DATATYPE"):
            session.table(view)
        assert not is_same_view(session, view, query, model)
        session.sql(f"drop view {view}")

    @pytest.mark.usefixtures("restored")
    def test_a_view_has_the_comment_of_its_model(self, project, spark):
        assert self.created(description="It's changed.") == {"first_view", "of_no_table"}
        described = spark.sql(f"describe extended {project.test_schema}.first_view").collect()
        assert "It's changed." in {row.data_type for row in described}

    def test_a_view_that_was_dropped_is_created(self, project, spark):
        spark.sql(f"drop view {project.test_schema}.second_view")
        assert self.created() == {"second_view", "of_no_table"}

    def test_a_view_that_somebody_replaced_is_created(self, project, spark):
        spark.sql(f"create or replace view {project.test_schema}.second_view as select 5 as n")
        assert self.created() == {"second_view", "of_no_table"}
        [row] = spark.table(f"{project.test_schema}.second_view").collect()
        assert row.n == 1

    def test_a_view_that_somebody_replaced_by_a_part_of_its_query_is_created(self, project, spark):
        schema = project.test_schema
        catalog = spark.catalog.currentCatalog()
        spark.sql(
            f"create or replace view {schema}.second_view as"
            f" with a as (select * from {catalog}.{schema}.first_view) select * from a"
        )
        assert self.created("--full-refresh") == {"second_view", "of_no_table"}

    @pytest.mark.usefixtures("restored")
    def test_a_view_names_its_catalog(self, project, spark, monkeypatch):
        monkeypatch.setattr(Catalog, "currentCatalog", lambda self: "renamed")
        assert self.created() == {"first_view", "second_view", "of_no_table"}

    @pytest.mark.parametrize("is_dropped", [False, True])
    def test_each_name_is_loaded_once(self, project, spark, monkeypatch, is_dropped):
        schema = project.test_schema
        if is_dropped:
            spark.sql(f"drop view {schema}.second_view")
        loaded = []
        load = catalog._view
        monkeypatch.setattr(
            catalog, "_view", lambda session, name: loaded.append(name) or load(session, name)
        )
        run_dbt(["run", "--select", "second_view"])
        read = [f"{schema}.first_view"]
        assert sorted(loaded) == (read if is_dropped else [*read, f"{schema}.second_view"])

    def test_a_view_whose_query_had_no_checksum_meanwhile_is_created(self, project, spark):
        name = f"{project.test_schema}.second_view"
        model = Path(project.project_root, "models", "second_view.sql")
        query = model.read_text()
        catalog = spark.catalog.currentCatalog()
        model.write_text(f"select n + 1 as n from {catalog}.{project.test_schema}.first_view")
        assert self.created() == {"second_view", "of_no_table"}
        [left] = spark.sql(f"show tblproperties {name} ('{CHECKSUM}')").collect()
        model.write_text(query)
        assert self.created() == {"second_view", "of_no_table"}
        [row] = spark.table(name).collect()
        assert row.n == 1
        assert left.value == ""

    @pytest.mark.usefixtures("restored")
    def test_a_view_with_another_query_is_created(self, project, spark):
        query = "select n + 1 as n from {{ ref('first_view') }}"
        write_file(query, project.project_root, "models", "second_view.sql")
        assert self.created() == {"second_view", "of_no_table"}
        [row] = spark.table(f"{project.test_schema}.second_view").collect()
        assert row.n == 2
