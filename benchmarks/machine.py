"""The machine and the versions with which the figures were measured."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import psutil
from dbt.adapters.spark_session.api import java_class
from pyspark.sql import SparkSession

_PACKAGES = ("pyspark", "dbt-core")


def description(session: SparkSession) -> dict[str, str]:
    """Return name -> value of the machine, its settings and versions."""
    context = session.sparkContext
    start = context.startTime / 1000 - psutil.Process().create_time()
    conf, java = context.getConf(), java_class(session, "java.lang.System")
    cores = java_class(session, "java.lang.Runtime").getRuntime().availableProcessors()
    return {
        "CPU": f"{_cpu()}, {os.cpu_count()} cores, {cores} of them for Java",
        "RAM": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "Spark": f"{conf.get('spark.master')}, driver memory {conf.get('spark.driver.memory')}",
        "start": f"{start:.1f} s from the start of Python to Spark's",
        "versions": ", ".join(
            [
                f"Python {platform.python_version()}",
                f"Java {java.getProperty('java.version')}",
                *(f"{package} {version(package)}" for package in _PACKAGES),
                f"Iceberg {_iceberg(session)}",
            ]
        ),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _iceberg(session: SparkSession) -> str:
    return java_class(session, "org.apache.iceberg.IcebergBuild").version()
