"""The runs of the competitors, in environments that `uv` creates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import pyspark
from dbt.adapters.spark_session.api import IVY_CACHE, SessionError, jar_paths
from pyspark.sql import SparkSession

from benchmarks.full import FullBuild
from benchmarks.measure import Cost, measured
from cdc_marts.relations import OWN

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Competitor:
    """An engine: the package to install, the script to run, the formats it knows."""

    name: str
    package: str
    script: str
    #: format -> the argument of the script for it
    formats: dict[str, str]
    #: Maven coordinates of jars for the script
    jars: tuple[str, ...] = ()
    #: names of jars of PySpark for the script
    spark_jars: tuple[str, ...] = ()


#: Formats that Flink SQL reads -> its names for them.
FLINK_FORMATS = {"canal_json": "canal-json", "cdl_debezium_json": "debezium-json"}

COMPETITORS = (
    Competitor("Flink SQL, keyed state", "apache-flink==2.1.3", "flink_job.py", FLINK_FORMATS),
    Competitor(
        "Flink SQL, Paimon table and log",
        "apache-flink==2.1.3",
        "flink_job.py",
        FLINK_FORMATS,
        # The newest Flink that Paimon supports.
        ("org.apache.paimon:paimon-flink-2.1:1.3.0",),
        ("hadoop-client-api-*.jar", "hadoop-client-runtime-*.jar"),
    ),
    Competitor(
        "DuckDB, JSON text",
        "duckdb==2.0.0",
        "duckdb_job.py",
        {name: name for name in ("canal_json", "cdl_json", "cdl_debezium_json")},
    ),
)


def add_competitors(
    session: SparkSession, build: FullBuild, repeat: int, say: Callable[[str], None]
) -> None:
    """Measure each competitor that runs here on the landed messages, as text files."""
    competitors = [
        competitor for competitor in COMPETITORS if build.source_format in competitor.formats
    ]
    if not competitors:
        return
    with tempfile.TemporaryDirectory() as folder:
        messages = Path(folder) / "messages"
        texts = session.table(OWN.landed(build.source_format)).selectExpr("cast(value as string)")
        texts.write.text(str(messages))
        for competitor in competitors:
            for _ in range(repeat):
                cost = _run(competitor, build, messages, say)
                if cost is None:
                    break
                build.note(competitor.name, cost)


def _run(
    competitor: Competitor, build: FullBuild, messages: Path, say: Callable[[str], None]
) -> Cost | None:
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        say(f"{competitor.name} is left out: there is no uv to install it with.")
        return None
    try:
        jars = jar_paths(competitor.jars, IVY_CACHE)
    except SessionError as error:
        say(f"{competitor.name} is left out: {' '.join(str(error).split())}")
        return None
    for name in competitor.spark_jars:
        jars += (Path(pyspark.__file__).parent / "jars").glob(name)
    columns = ",".join(f"{name}:{type_}" for name, type_ in build.workload.columns.items())
    command = [uv, "run", "--quiet", "--no-project", "--python", sys.executable]
    command += ["--with", competitor.package, "python", str(_FOLDER / competitor.script)]
    command += [competitor.formats[build.source_format], str(messages), columns]
    command.append(",".join(map(str, jars)))
    running = subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True)
    with running, measured(pid=running.pid) as cost:
        output, errors = running.communicate()
    if running.returncode:
        say(f"{competitor.name} is left out of {build.source_format}: {_reason(errors)}")
        return None
    cost.seconds = float(output.split()[-1])
    return cost


def _reason(errors: str) -> str:
    """Return the line of an error output that says why a process ended.

    For Java, it is the innermost cause.
    """
    lines = errors.strip().splitlines()
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or ["it gives no reason"])[-1]
