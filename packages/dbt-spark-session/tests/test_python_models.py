"""Python models: what they may return, what their tables are like, what their errors say."""

from __future__ import annotations

import pandas as pd
import pytest
from dbt.tests.util import run_dbt
from packaging.version import Version

SPARK = """
def model(dbt, session):
    return session.createDataFrame([(1, "é")], "id int, text string")
"""

PANDAS = """
import pandas as pd

def model(dbt, session):
    return pd.DataFrame({"id": [1], "text": ["é"]})
"""

PANDAS_ON_SPARK = """
import pyspark.pandas as ps

def model(dbt, session):
    return ps.DataFrame({"id": [1], "text": ["é"]})
"""


class TestResults:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "from_spark.py": SPARK,
            "from_pandas.py": PANDAS,
            "from_pandas_on_spark.py": PANDAS_ON_SPARK,
        }

    @pytest.mark.filterwarnings("ignore")  # pandas-on-Spark's advice
    @pytest.mark.parametrize(
        "model",
        [
            "from_spark",
            "from_pandas",
            pytest.param(
                "from_pandas_on_spark",
                marks=pytest.mark.skipif(
                    Version(pd.__version__) >= Version("3.1"),
                    reason="PySpark 4.1 cannot import pandas-on-Spark with pandas 3.1",
                ),
            ),
        ],
    )
    def test_a_model_returns_a_dataframe_of_spark_or_of_pandas(self, project, spark, model):
        run_dbt(["run", "--select", model])
        rows = spark.table(f"{project.test_schema}.{model}").select("id", "text").collect()
        assert [tuple(row) for row in rows] == [(1, "é")]


DESCRIBED = """
def model(dbt, session):
    description = session.sparkContext.getLocalProperty("spark.job.description")
    return session.range(1).selectExpr(f"'{description}' as description")
"""


class TestJobs:
    @pytest.fixture(scope="class")
    def models(self):
        return {"described.py": DESCRIBED}

    def test_spark_shows_to_which_model_a_job_belongs(self, project, spark):
        run_dbt(["run"])
        described = spark.table(f"{project.test_schema}.described").first()
        assert described.description == "model.test.described"
        # What this thread does next belongs to no model.
        assert spark.sparkContext.getLocalProperty("spark.job.description") is None


PARTITIONED = """
def model(dbt, session):
    return session.createDataFrame([(1, "a"), (2, "b")], "id int, kind string")
"""

PARTITIONED_YML = """
models:
  - name: a_table
    config: &layout
      materialized: table
      partition_by: [kind, "bucket(4, id)"]
      tblproperties:
        write.distribution-mode: none
        team: ours
  - name: an_increment
    config:
      <<: *layout
      materialized: incremental
"""


class TestLayout:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "a_table.py": PARTITIONED,
            "an_increment.py": PARTITIONED,
            "layout.yml": PARTITIONED_YML,
        }

    @pytest.mark.parametrize("model", ["a_table", "an_increment"])
    def test_tables_have_the_partitions_and_properties_of_the_config(self, project, spark, model):
        run_dbt(["run", "--select", model])
        table = f"{project.test_schema}.{model}"
        described = {
            row.col_name: row.data_type for row in spark.sql(f"describe table {table}").collect()
        }
        assert (described["Part 0"], described["Part 1"]) == ("kind", "bucket(4, id)")
        properties = {
            row.key: row.value for row in spark.sql(f"show tblproperties {table}").collect()
        }
        assert properties["write.distribution-mode"] == "none"
        assert properties["team"] == "ours"
        assert properties["format-version"] == "3"
        assert spark.table(f"{table}.partitions").count() == 2

    def test_an_incremental_run_keeps_the_layout(self, project, spark):
        run_dbt(["run", "--select", "an_increment", "--full-refresh"])
        run_dbt(["run", "--select", "an_increment"])
        table = f"{project.test_schema}.an_increment"
        assert spark.table(table).count() == 4
        assert spark.table(f"{table}.partitions").count() == 2


IN_A_HELPER = """import math


def root(number):
    return math.sqrt(number)  # line 5


def model(dbt, session):
    return session.range(root(-1))
"""

IN_SPARK = """from pyspark.sql import functions as F


def model(dbt, session):
    rows = session.range(1)
    return rows.select(
        F.col("no_such_column"),
    )
"""

NOT_A_DATAFRAME = """
def model(dbt, session):
    return [1, 2]
"""

AT_THE_WRITE = """from pyspark.sql import functions as F


def model(dbt, session):
    return session.range(1).select(F.raise_error(F.lit("broken row")).alias("id"))
"""


class TestErrors:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "in_a_helper.py": IN_A_HELPER,
            "in_spark.py": IN_SPARK,
            "not_a_dataframe.py": NOT_A_DATAFRAME,
            "at_the_write.py": AT_THE_WRITE,
        }

    @pytest.fixture(scope="class")
    def messages(self, project):
        results = run_dbt(["run"], expect_pass=False)
        return {result.node.name: result.message for result in results}

    def test_an_error_is_told_with_the_line_of_the_models_file(self, messages):
        message = messages["in_a_helper"]
        assert "ValueError: " in message
        assert "models/in_a_helper.py, line 5" in message
        assert "return math.sqrt(number)" in message

    def test_an_error_of_spark_is_told_without_the_jvms_stack(self, messages):
        message = messages["in_spark"]
        assert "no_such_column" in message
        assert "models/in_spark.py, line 6" in message
        assert "\tat " not in message

    def test_another_kind_of_result_is_refused_by_name(self, messages):
        assert "returns a Spark or pandas DataFrame, not list" in messages["not_a_dataframe"]

    def test_an_error_in_the_rows_is_told_when_they_are_written(self, messages):
        assert "broken row" in messages["at_the_write"]
        assert "\tat " not in messages["at_the_write"]


ITS_OWN_VIEW = """
import time


def model(dbt, session):
    session.range({rows}).createOrReplaceTempView("rows")
    session.conf.set("spark.sql.shuffle.partitions", {rows})
    time.sleep(1)
    setting = session.conf.get("spark.sql.shuffle.partitions")
    return session.sql(f"select count(*) as row_count, {{setting}} as setting from rows")
"""


class TestThreads:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"model_{rows}.py": ITS_OWN_VIEW.format(rows=rows) for rows in (3, 5)}

    def test_views_and_settings_of_one_thread_are_not_those_of_another(self, project, spark):
        run_dbt(["run", "--threads", "2"])
        for rows in (3, 5):
            row = spark.table(f"{project.test_schema}.model_{rows}").first()
            assert tuple(row) == (rows, rows)
