"""What benchmarks measure must be the same work: the project's and the baseline's."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from benchmarks import baselines, project, rebuild, report
from benchmarks.baselines import job
from benchmarks.comparison import check_equal
from benchmarks.full import BASELINE, BASELINE_STATE, COMPARED, STATE, FullBuild
from benchmarks.incremental import Increments
from benchmarks.landing import land
from benchmarks.measure import Cost, SparkWork, measured
from benchmarks.messages import FORMATS_WITH_RARE_CHANGES
from benchmarks.parse import OTHER, PARSER, Parse, samples_by_part
from benchmarks.rebuild import TASKS, Rebuild
from benchmarks.workload import MOVED_IDS, Workload, changes
from cdc_marts.formats import SOURCE_FORMATS
from cdc_marts.relations import OWN

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


@pytest.mark.long
def test_messages_of_20_mb_are_built_in_4_gb(tmp_path: Path) -> None:
    sizes = ["--size", "2000", "--large-bytes", "20000000", "--driver-memory", "4g"]
    page = page_of("memory", tmp_path, *sizes)

    assert "## canal_json, 40 messages of 20,000,000 bytes" in page


@pytest.mark.long
def test_a_profile_of_the_parse_is_taken_from_its_tasks(tmp_path: Path) -> None:
    page = page_of("parse", tmp_path, "--size", "20000", "--repeat", "2")

    rows = dict(re.findall(r"^\| (.+?) \| (\d+)% \| ", page, re.MULTILINE))
    assert 98 <= sum(map(int, rows.values())) <= 102
    assert int(rows["message: JSON or Avro"]) > 5


@pytest.mark.long
def test_a_profile_of_a_rebuild_is_taken_from_all_threads(tmp_path: Path) -> None:
    page = page_of("state", tmp_path, "--size", "20000", "--repeat", "1")

    rows = re.findall(r"^\| ([^|]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    models = {part: float(seconds) for part, seconds, _ in rows}
    everything = models.pop("all")
    assert sum(models.values()) == pytest.approx(everything, abs=0.05)
    # A few messages take planning, and hardly any tasks.
    assert models["planning of queries, commits"] > models[TASKS] > 0


def page_of(command: str, folder: Path, *options: str) -> str:
    """What a command writes of Canal's messages, run as a user runs it."""
    arguments = [command, "--formats", "canal_json", "--output", str(folder), *options]
    subprocess.run([sys.executable, "-m", "benchmarks", *arguments], check=True, timeout=900)
    return (folder / f"{command}.md").read_text("utf-8")


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


def test_a_call_stack_belongs_to_the_part_of_its_innermost_known_frame() -> None:
    loop = "catalyst/expressions/GeneratedClass$GeneratedIteratorForCodegenStage1.processNext"
    read = "catalyst/expressions/json/JsonToStructsEvaluator.evaluate"
    cast = "org/apache/spark/sql/catalyst/expressions/variant/VariantGet$.cast"
    samples = samples_by_part(
        [
            ((loop, read, "java/lang/String.<init>"), 3),
            ((loop, "ArrayAggregate.eval", cast, "Literal.<init>"), 2),
            ((loop,), 4),
            (("java/lang/Thread.run",), 1),
        ]
    )

    assert samples == {
        "message: JSON or Avro": 3,
        "VARIANTs: casts to texts, numbers, maps": 2,
        "compiled loops, and copies of rows": 4,
        OTHER: 1,
    }


def test_a_report_of_a_parse_compares_its_parts_with_the_baseline() -> None:
    part = "compiled loops, and copies of rows"
    parse = Parse("canal_json", 50_000)
    parse.seconds = {PARSER: [2.0, 1.0, 9.0], BASELINE: [0.5]}
    parse.samples = {PARSER: Counter({part: 3, OTHER: 1}), BASELINE: Counter({OTHER: 10})}

    text = "\n".join(report.parses([parse]))

    assert "| `canal_json` | 4.00 | 1.00 | 4.00 |" in text
    assert f"| {part} | 75% | 3.00 | 0.00 |" in text
    assert f"| {OTHER} | 25% | 1.00 | 1.00 |" in text


def test_each_thread_belongs_to_a_part_of_a_rebuild() -> None:
    samples = rebuild.samples_by_part(
        {
            "Executor task launch worker for task 0.0 in stage 12.0 (TID 3) tid=71]": 5,
            "Thread-21 tid=90]": 4,
            "C2 CompilerThre tid=12]": 3,
            "GC Thread#1 tid=9]": 2,
            "dag-scheduler-event-loop tid=44]": 1,
        }
    )

    assert samples == {
        TASKS: 5,
        "planning of queries, commits": 4,
        "Java's compilers": 3,
        "garbage collection": 2,
        rebuild.OTHER: 1,
    }


def test_a_report_of_rebuilds_compares_their_tasks_with_the_baseline() -> None:
    nothing = dict.fromkeys((*rebuild.PARTS, rebuild.OTHER), 0.0)
    one = Rebuild("canal_json", 300)
    one.seconds = {STATE: [6.0, 5.0, 9.0], BASELINE_STATE: [2.0]}
    one.processor_seconds = {
        STATE: {**nothing, TASKS: 3.0, "Java's compilers": 1.5},
        BASELINE_STATE: {**nothing, TASKS: 2.0},
    }

    text = "\n".join(report.rebuilds([one]))

    assert "| `canal_json` | 6.00 | 2.00 | 3.00 | 3.00 | 2.00 | 1.50 |" in text
    assert "| Java's compilers | 1.50 | 0.00 |" in text
    assert "| all | 4.50 | 2.00 |" in text
