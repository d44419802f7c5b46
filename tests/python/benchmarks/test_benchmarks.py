"""What benchmarks measure must be the same work: the project's and the floor's."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from benchmarks import floors, project
from benchmarks.comparison import check_equal
from benchmarks.floors import job
from benchmarks.landing import land
from benchmarks.workload import Workload
from cdc_marts.formats import SOURCE_FORMATS
from cdc_marts.landing.tables import landing_table

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


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_the_floor_builds_what_the_models_build(built: SparkSession, source_format: str) -> None:
    messages = built.table(landing_table(source_format))
    job.write_change_events(floors.events(source_format, messages))
    job.write_latest_state(built)

    check_equal(built, source_format)
