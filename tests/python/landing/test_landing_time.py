"""Landing all formats takes little more than landing one: most of either is the Spark start."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.manifest import ROOT
from tests.python.harness.processes import finished, program

#: Landings of one format and of all, in turn: other work on the machine may slow one of them.
REPETITIONS = 3
#: The fastest landing of all formats takes so many times what the fastest of one takes.
MOST = 1.5

pytestmark = pytest.mark.long


def test_all_formats_land_in_one_start(tmp_path: Path) -> None:
    topics = tmp_path / "topics.yml"
    topics.write_text(
        "topics:\n" + "".join(f"  {name}: {name}\n" for name in SOURCE_FORMATS), "utf-8"
    )
    paths = []
    for source_format in SOURCE_FORMATS:
        path = tmp_path / f"{source_format}.jsonl"
        envelope = {"topic": source_format, "partition": 0, "offset": 0, "value": "{}"}
        path.write_text(json.dumps(envelope), "utf-8")
        paths.append(path)

    def seconds(number: int, *files: Path) -> float:
        home = tmp_path / f"home {number} of {len(files)}"
        began = time.monotonic()
        finished(
            *(program("cdc-marts"), "land", "files", "--map", topics, *files),
            cwd=ROOT,
            CDC_MARTS_HOME=str(home),
            CDC_MARTS_DRIVER_MEMORY="1g",
        )
        return time.monotonic() - began

    pairs = [(seconds(n, paths[0]), seconds(n, *paths)) for n in range(REPETITIONS)]
    one, all_formats = (min(times) for times in zip(*pairs, strict=True))

    print(f"one format: {one:.1f} s, all formats: {all_formats:.1f} s")
    assert all_formats <= MOST * one
