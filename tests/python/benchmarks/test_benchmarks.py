"""What benchmarks measure must be the same work: the project's and the baseline's."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from pyspark.sql import Row, SparkSession

from benchmarks import baselines, project, report
from benchmarks.baselines import job
from benchmarks.comparison import check_equal
from benchmarks.full import COMPARED, FullBuild
from benchmarks.incremental import Increments
from benchmarks.landing import land
from benchmarks.measure import Cost, SparkWork, measured
from benchmarks.messages import FORMATS_WITH_RARE_CHANGES
from benchmarks.workload import MOVED_IDS, Workload, changes
from cdc_marts.relations import OWN
from cdc_marts.source_formats import SOURCE_FORMATS

#: Every row is visited some times, in two tables.
WORKLOAD = Workload(300, keys=60, tables=2)
COMPARED_MARTS = ("+change_events", "+latest_state", "+message_ledger")


@pytest.fixture(scope="module")
def built(spark: SparkSession) -> SparkSession:
    """A session in which one run built the messages of all formats."""
    project.empty(spark)
    for source_format in SOURCE_FORMATS:
        land(spark, source_format, WORKLOAD)
    project.run_models(spark, WORKLOAD, "--select", *COMPARED_MARTS)
    return spark


@pytest.mark.thorough
def test_the_baseline_builds_what_the_models_build(built: SparkSession) -> None:
    for source_format in SOURCE_FORMATS:
        messages = built.table(OWN.landed(source_format))
        job.write_change_events(baselines.events(source_format, messages))
        job.write_latest_state(built)

        check_equal(built, source_format)


@pytest.mark.thorough
def test_rare_changes_mean_the_same_in_each_format(spark: SparkSession) -> None:
    # A redelivery comes before the next change of its row.
    workload = Workload(5000, keys=2000, tables=2, rare_share=0.05)
    project.empty(spark)
    for source_format in FORMATS_WITH_RARE_CHANGES:
        land(spark, source_format, workload)
    project.run_models(spark, workload, "--select", "+latest_state", "+message_ledger")

    values = [f"cast(row:{name} as string) as {name}" for name in ("id", "status")]
    values.append("row:note is null as lacks_note")
    canal, cdl = (
        spark.table(OWN.model("latest_state"))
        .where(f"source_format = '{source_format}'")
        .selectExpr("table_name", *values)
        for source_format in FORMATS_WITH_RARE_CHANGES
    )
    # In Canal, a redelivery behind a truncation brings its row back.
    others = "table_name <> 'orders_000'"
    assert canal.where(others).exceptAll(cdl).count() == 0
    assert cdl.exceptAll(canal).count() == 0
    assert canal.where(f"id > {MOVED_IDS}").count() > 10
    for source_format in FORMATS_WITH_RARE_CHANGES:
        ledger = spark.table(OWN.model("message_ledger")).where(
            f"source_format = '{source_format}'"
        )
        counts = ledger.selectExpr("sum(rejected)", "sum(ddl)", "sum(redelivered)").first()
        assert counts is not None
        rejected, statements, redelivered = counts
        assert (rejected, statements) == (0, 3), source_format
        assert (redelivered > 100) == (source_format == "cdl_debezium_json")


@pytest.mark.thorough
def test_the_baseline_reads_each_message_once(built: SparkSession) -> None:
    for source_format in SOURCE_FORMATS:
        messages = built.table(OWN.landed(source_format))
        events = baselines.events(source_format, messages)

        plan = events._jdf.queryExecution().optimizedPlan().toString()
        parses = re.findall(r"from_json\(|from_avro\(|parseJson|parse_json\(", plan)
        assert len(parses) == 1, (source_format, plan)


def test_rows_that_spark_reads_are_counted(spark: SparkSession) -> None:
    spark.sql("create namespace if not exists read")
    spark.range(250).writeTo("read.numbers").using("iceberg").createOrReplace()

    with measured(spark) as cost:
        spark.sql("select max(id) + sum(id) from read.numbers where id % 2 < 3").collect()

    assert cost.spark is not None and cost.spark.input_records == 250


def test_a_workload_goes_on_where_another_one_ended(spark: SparkSession) -> None:
    def rows(first: int, count: int) -> list[Row]:
        workload = replace(WORKLOAD, changes=count)
        return changes(spark, workload, note_length=100, first=first).collect()

    assert rows(0, 200) == rows(0, 150) + rows(150, 50)


@pytest.mark.parametrize("rare_share", [0.0, 0.2])
def test_a_change_is_delivered_once_if_it_is_not_rare(
    spark: SparkSession, rare_share: float
) -> None:
    workload = replace(WORKLOAD, changes=2000, rare_share=rare_share)
    delivered = changes(spark, workload, note_length=0).collect()
    again = [row for row in delivered if row["delivery"] != row["number"]]
    assert len(delivered) - len(again) == 2000
    assert bool(again) == bool(rare_share)
    assert all(row["delivery"] == row["number"] + 1000 for row in again)


@pytest.mark.parametrize("is_skewed", [False, True])
def test_changes_of_a_row_follow_from_one_another(spark: SparkSession, is_skewed: bool) -> None:
    workload = replace(WORKLOAD, skewed=is_skewed)
    rows: dict[int, Row] = {}
    for change in changes(spark, workload, note_length=0).orderBy("number").collect():
        held = rows.pop(change["row"], None)
        assert (held is None) == (change["op"] == "insert")
        if held is not None:
            assert held["after_amount"] == change["before_amount"]
        if change["op"] != "delete":
            rows[change["row"]] = change


def test_a_skewed_workload_is_about_one_row(spark: SparkSession) -> None:
    skewed = changes(spark, replace(WORKLOAD, skewed=True), note_length=0)

    assert skewed.where("`row` = 0").count() == 0.8 * WORKLOAD.changes


def test_a_report_shows_costs_and_each_models_seconds() -> None:
    work = SparkWork(3, 4, 1.5, 1.2, 2_000, 2**21, 0)
    cost = Cost(2.0, 2**30, work, 2**22, {"stg_canal_json": 1.25})
    build = FullBuild("canal_json", WORKLOAD, 300, 2**20)
    for what in (*COMPARED, *COMPARED.values()):
        build.note(what, cost)
    build.note("a competitor", Cost(1.5, 2**30))

    text = "\n".join(report.full_builds([build]))

    assert "| `canal_json` | 300 | 1.00 | 1.00 | 1.00 | 150 | 1.00 |" in text
    assert "| all models | 2.00 | 2.00 | 2.00 | 1,024 | 4.0 | 3 | 1.5 | 2,000 | 2.0 | 0.0 |" in text
    assert "| a competitor | 1.50 | 1.50 | 1.50 | 1,024 |  |  |  |  |  |  |" in text
    assert "| `stg_canal_json` | 1.25 | 1.25 | 1.25 |" in text


def test_a_report_of_increments_leaves_out_what_an_empty_run_takes() -> None:
    def run(seconds: float, task_seconds: float) -> Cost:
        return Cost(seconds, 2**30, SparkWork(1, 1, task_seconds, task_seconds, 40, 0, 0))

    increments = Increments("canal_json", WORKLOAD, run(20, 30), 300)
    increments.empty.append(run(2, 0.5))
    increments.new[400] = [run(3, 1.5)]

    text = report.increments(increments)

    assert "Runs with nothing new read 40 rows at most: 300 messages were landed." in text
    assert (
        "| 400 new | 3.00 | 3.00 | 3.00 | 1,024 |  | 1 | 1.5 | 40 | 0.0 | 0.0 | 1.00 | 5.0% |"
        in text
    )
