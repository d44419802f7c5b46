"""Seeds hold what their files hold, and are written only when these have changed."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from pathlib import Path

import dbt.contracts.files
import pytest
from dbt.tests.util import run_dbt

TEXTS = [
    r"back\slash, \\ two, \n no newline, C:\temp\new",
    r'{"json": "with \"quotes\" and \u00e9"}',
    "an apostrophe's, ''two'', \"double\", `backtick`",
    "the end is a backslash \\",
    "'",
    "a newline\nand a\ttab",
    "中文, кириллица, العربية, é, 👩‍👩‍👧, \U0001f600",
    "  spaces around  ",
    "{{ not_jinja }} {% nor this %} ${nor_this} %s %(x)s",
    "-- no comment; select 1; /* neither */",
]

INTEGERS = [2**53 + 1, 2**63 - 1, -(2**63), -(2**53) - 1, 0]


def csv_of(*columns: list[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(zip(*columns, strict=True))
    return text.getvalue()


class TestContent:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "texts.csv": csv_of(["id", *range(len(TEXTS))], ["from", *TEXTS]),
            "integers.csv": csv_of(["value", *INTEGERS]),
            "huge.csv": csv_of(["value", 2**63, -(2**70)]),
            "typed.csv": csv_of(
                ["code", "007", "1e3", ""],
                ["amount", "12345678901234567890.123456789012345678", "-0.1", ""],
                ["a name", "true", "false", ""],
            ),
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        types = {"code": "string", "amount": "decimal(38, 18)"}
        return {"seeds": {"test": {"typed": {"+column_types": types}}}}

    @pytest.fixture(scope="class", autouse=True)
    def seeded(self, project):
        run_dbt(["seed"])

    def test_texts_are_byte_for_byte_those_of_the_file(self, project, spark):
        rows = spark.table(f"{project.test_schema}.texts").orderBy("id").collect()
        assert [row["from"] for row in rows] == TEXTS

    def test_integers_are_exact_up_to_64_bits(self, project, spark):
        table = spark.table(f"{project.test_schema}.integers")
        assert {row.value for row in table.collect()} == set(INTEGERS)
        assert table.dtypes == [("value", "bigint")]

    def test_integers_of_more_than_64_bits_are_exact_too(self, project, spark):
        rows = spark.table(f"{project.test_schema}.huge").collect()
        assert {int(row.value) for row in rows} == {2**63, -(2**70)}

    def test_declared_types_take_the_text_of_the_file(self, project, spark):
        table = spark.table(f"{project.test_schema}.typed")
        assert table.dtypes == [
            ("code", "string"),
            ("amount", "decimal(38,18)"),
            ("a name", "boolean"),
        ]
        assert [tuple(row) for row in table.orderBy("code").collect()] == [
            (None, None, None),
            ("007", Decimal("12345678901234567890.123456789012345678"), True),
            ("1e3", Decimal("-0.1"), False),
        ]


class TestWrites:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"numbers.csv": "n\n1\n"}

    def snapshots(self, project, spark) -> int:
        return spark.table(f"{project.test_schema}.numbers.snapshots").count()

    def numbers(self, project, spark) -> list[int]:
        return sorted(row.n for row in spark.table(f"{project.test_schema}.numbers").collect())

    def test_a_seed_is_written_only_when_its_file_or_settings_have_changed(self, project, spark):
        file = Path(project.project_root, "seeds", "numbers.csv")
        run_dbt(["seed"])
        assert (self.snapshots(project, spark), self.numbers(project, spark)) == (1, [1])
        run_dbt(["seed"])
        assert self.snapshots(project, spark) == 1
        file.write_text("n\n1\n2\n")
        run_dbt(["seed"])
        assert (self.snapshots(project, spark), self.numbers(project, spark)) == (2, [1, 2])
        run_dbt(["seed", "--full-refresh"])
        assert self.snapshots(project, spark) == 3

    def test_a_change_of_a_file_too_large_for_dbts_checksum_is_not_missed(
        self, project, spark, monkeypatch
    ):
        monkeypatch.setattr(dbt.contracts.files, "MAXIMUM_SEED_SIZE", 0)
        file = Path(project.project_root, "seeds", "numbers.csv")
        for number in (3, 4):
            file.write_text(f"n\n{number}\n")
            run_dbt(["seed"])
            assert self.numbers(project, spark) == [number]


class TestRunAlone:
    """`dbt run` has the seeds of a folder, as `dbt seed` would write them."""

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"codes": {"codes.csv": "code,n\n007,1\n"}, "others.csv": "n\n1\n"}

    @pytest.fixture(scope="class")
    def models(self):
        return {"read.sql": "select code, n from {{ ref('codes') }}"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "on-run-start": ["{{ load_seeds('test.codes') }}"],
            "seeds": {"test": {"codes": {"+column_types": {"code": "string"}}}},
        }

    def read(self, project, spark) -> list[tuple[str, int]]:
        rows = spark.table(f"{project.test_schema}.read").orderBy("n").collect()
        return [(row.code, row.n) for row in rows]

    def snapshots(self, project, spark) -> int:
        return spark.table(f"{project.test_schema}.codes.snapshots").count()

    def test_a_run_loads_them_where_they_are_not_as_their_files(self, project, spark):
        run_dbt(["run"])
        assert self.read(project, spark) == [("007", 1)]
        assert not spark.catalog.tableExists(f"{project.test_schema}.others")
        run_dbt(["run"])
        run_dbt(["seed"])
        assert self.snapshots(project, spark) == 1
        Path(project.project_root, "seeds", "codes", "codes.csv").write_text("code,n\n07,1\n8,2\n")
        run_dbt(["run"])
        assert self.read(project, spark) == [("07", 1), ("8", 2)]
        assert self.snapshots(project, spark) == 2
