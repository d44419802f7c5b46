"""A data test is asked again only where something that it reads has changed."""

from __future__ import annotations

import json

import pytest
from dbt.tests.util import run_dbt, write_file

NUMBERS = """
{{ config(materialized='table') }} select {{ var('number', 1) }} as n
"""
IS_SMALL = "select * from {{ ref('last_view') }} where n > {{ var('limit', 9) }}"
#: Test -> its query.
TESTS = {
    "is_small": IS_SMALL,
    "is_small_or_warns": "{{ config(severity='warn') }}" + IS_SMALL,
    "is_past": "select * from {{ ref('numbers') }} where n > unix_timestamp(now())",
    "is_stored": "{{ config(store_failures=true) }}" + IS_SMALL,
    "reads_no_table": "select * from range(3) where id > 3",
}
#: These are asked in any case.
ALWAYS = {"is_past", "is_stored", "reads_no_table"}


class TestDataTests:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "numbers.sql": NUMBERS,
            "first_view.sql": "select * from {{ ref('numbers') }}",
            "last_view.sql": "select * from {{ ref('first_view') }}",
        }

    @pytest.fixture(scope="class")
    def tests(self):
        return {f"{name}.sql": query for name, query in TESTS.items()}

    @pytest.fixture(autouse=True)
    def asked_once(self, project):
        write_file("select * from {{ ref('numbers') }}", "models", "first_view.sql")
        run_dbt(["build", "--full-refresh"])

    def asked(self, command: str = "test", *arguments: str, passes: bool = True, **variables: int):
        """The data tests that a command asks, with how many rows each finds."""
        options = [command, *arguments, "--vars", json.dumps(variables)]
        results = run_dbt(options, expect_pass=passes)
        return {
            result.node.name: result.failures
            for result in results
            if result.node.resource_type == "test"
            and result.adapter_response.get("_message") != "OK, unchanged"
        }

    def test_nothing_has_changed(self, project):
        assert self.asked().keys() == ALWAYS

    def test_all_are_asked_by_a_full_refresh(self, project):
        assert self.asked("build", "--full-refresh").keys() == TESTS.keys()

    def test_a_table_behind_views_has_other_rows(self, project):
        run_dbt(["run", "--vars", json.dumps({"number": 2})])
        assert self.asked().keys() == TESTS.keys()
        assert self.asked().keys() == ALWAYS

    def test_a_view_has_another_query(self, project):
        write_file("select n + 1 as n from {{ ref('numbers') }}", "models", "first_view.sql")
        run_dbt(["run", "--select", "first_view"])
        assert self.asked().keys() == {*ALWAYS, "is_small", "is_small_or_warns"}

    def test_a_test_has_another_query(self, project):
        assert self.asked(limit=8).keys() == {*ALWAYS, "is_small", "is_small_or_warns"}

    def test_a_warning_is_kept_and_a_failure_is_asked_again(self, project):
        found = self.asked(passes=False, limit=0)
        assert (found["is_small"], found["is_small_or_warns"]) == (1, 1)
        found = self.asked(passes=False, limit=0)
        assert found["is_small"] == 1 and "is_small_or_warns" not in found
        results = run_dbt(
            ["test", "--select", "is_small_or_warns", "--vars", json.dumps({"limit": 0})]
        )
        assert [(result.status, result.failures) for result in results] == [("warn", 1)]
