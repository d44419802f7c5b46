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
