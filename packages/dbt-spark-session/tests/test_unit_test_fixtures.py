"""The rows of dbt's unit tests reach the model byte for byte."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

TEXTS = [
    "C:\\temp\\new",
    '{"quoted": "\\"yes\\""}',
    "it's, ''twice''",
    "ends with \\",
    "a newline\nand a\ttab",
    "中文 \U0001f600",
]

#: A text by its bytes: what is lost both in `given` and in `expect` shows.
MODEL = "select id, hex(text) as bytes, number from {{ ref('texts') }}"


class TestFixtures:
    @pytest.fixture(scope="class")
    def models(self):
        unit_test = {
            "unit_tests": [
                {
                    "name": "texts_arrive_whole",
                    "model": "text_bytes",
                    "given": [
                        {
                            "input": "ref('texts')",
                            "rows": [
                                {"id": i, "text": text, "number": 2**53 + 1}
                                for i, text in enumerate(TEXTS)
                            ],
                        }
                    ],
                    "expect": {
                        "rows": [
                            {"id": i, "bytes": text.encode().hex().upper(), "number": 2**53 + 1}
                            for i, text in enumerate(TEXTS)
                        ]
                    },
                },
                {
                    "name": "expected_texts_are_whole_too",
                    "model": "one_text",
                    "given": [{"input": "ref('texts')", "rows": [{"id": 1}]}],
                    "expect": {"rows": [{"text": TEXTS[1]}]},
                },
            ]
        }
        return {
            "texts.sql": "select 1 as id, 'x' as text, 1L as number",
            "text_bytes.sql": MODEL,
            "one_text.sql": "select decode(unhex('"
            + TEXTS[1].encode().hex()
            + "'), 'UTF-8') as text from {{ ref('texts') }}",
            "unit_tests.yml": unit_test,
        }

    def test_backslashes_quotes_newlines_and_large_numbers_are_not_changed(self, project):
        run_dbt(["run"])
        results = run_dbt(["test"])
        assert len(results) == 2


class TestNestedFixtures:
    @pytest.fixture(scope="class")
    def models(self):
        image = '{"id":1,"text":"a \\"quoted\\" one","inner":{"list":[1,null]}}'
        unit_test = {
            "unit_tests": [
                {
                    "name": "variants_are_json_text",
                    "model": "images",
                    "given": [
                        {
                            "input": "ref('rows')",
                            "rows": [
                                {"image": image, "place": "struct(1, 2)", "names": 'array("a")'},
                                {"image": None},
                            ],
                        }
                    ],
                    "expect": {
                        "rows": [
                            {"image": image, "item": "1", "second": 2, "name": "a"},
                            {"image": None, "item": None, "second": None, "name": None},
                        ]
                    },
                },
                {
                    "name": "no_rows_have_the_columns_too",
                    "model": "images",
                    "given": [{"input": "ref('rows')", "rows": []}],
                    "expect": {"rows": []},
                },
            ]
        }
        return {
            "rows.sql": (
                "select parse_json('1') as image, array('') as names,"
                " struct(1 as first, 2L as second) as place"
            ),
            "images.sql": (
                "select image, cast(image:inner.list[0] as string) as item,"
                " place.second, names[0] as name from {{ ref('rows') }}"
            ),
            "unit_tests.yml": unit_test,
        }

    def test_variants_are_json_text_and_columns_left_out_are_null(self, project):
        run_dbt(["run"])
        assert [str(result.status) for result in run_dbt(["test"])] == ["pass", "pass"]

    def test_a_fixture_of_a_model_that_is_not_there_says_what_to_do(self, project):
        project.run_sql(f"drop table if exists {project.test_schema}.rows")
        project.run_sql(f"drop view if exists {project.test_schema}.rows")
        results = run_dbt(["test"], expect_pass=False)
        assert all("dbt run --empty" in result.message for result in results)


class TestNewRowsOfFixtures:
    @pytest.fixture(scope="class")
    def models(self):
        def unit_test(name, expected, **overrides):
            return {
                "name": name,
                "model": "doubled",
                "overrides": overrides,
                "given": [{"input": "ref('numbers')", "rows": [{"id": 1}, {"id": 2}]}],
                "expect": {"rows": [{"what": what, "id": id_} for what, id_ in expected]},
            }

        whole = [("so far", 1), ("so far", 2)]
        names_new_rows = {"unit_test_new_rows": {"numbers": "id > 1"}}
        names_another = {"unit_test_new_rows": {"number": "id > 1"}}
        return {
            "numbers.sql": "select 1 as id",
            "doubled.sql": (
                "select 'new' as what, id from {{ new_rows(ref('numbers')) }} union all"
                " select 'so far', id from {{ rows_so_far(ref('numbers')) }}"
            ),
            "unit_tests.yml": {
                "unit_tests": [
                    unit_test("all_rows_are_new", [("new", 1), ("new", 2), *whole]),
                    unit_test("some_are_new", [("new", 2), *whole], vars=names_new_rows),
                    unit_test("of_another_input", whole, vars=names_another),
                ]
            },
        }

    def test_rows_are_new_by_the_condition_of_their_input(self, project):
        run_dbt(["run", "--select", "numbers"])
        results = run_dbt(["test"], expect_pass=False)
        statuses = {result.node.name: str(result.status) for result in results}
        of_another = statuses.pop("of_another_input")
        assert (of_another, set(statuses.values())) == ("error", {"pass"})

    def test_a_condition_of_an_input_that_is_not_given_is_an_error(self, project):
        run_dbt(["run", "--select", "numbers"])
        (result,) = run_dbt(["test", "--select", "of_another_input"], expect_pass=False)
        assert "number, which the unit test is not given. It is given: numbers." in result.message
