"""Profiles are made from samples, and each command writes its page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from profiling import rebuild, sections
from profiling.parse import OTHER, PARSER, Parse, samples_by_part
from profiling.rebuild import TASKS, Rebuild

from benchmarks.full import BASELINE, BASELINE_STATE, STATE


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

    text = "\n".join(sections.parses([parse]))

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

    text = "\n".join(sections.rebuilds([one]))

    assert "| `canal_json` | 6.00 | 2.00 | 3.00 | 3.00 | 2.00 | 1.50 |" in text
    assert "| Java's compilers | 1.50 | 0.00 |" in text
    assert "| all | 4.50 | 2.00 |" in text


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
    subprocess.run([sys.executable, "-m", "profiling", *arguments], check=True, timeout=900)
    return (folder / f"{command}.md").read_text("utf-8")
