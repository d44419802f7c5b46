"""Class-data sharing: Java maps classes that it has loaded once from an archive at later starts.

The first JVM writes the archive when it ends, beside the packages of this Python. Java uses the
archive only with the class path that this JVM was started with.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pyspark

ARCHIVES = Path(sys.prefix) / "share" / "spark-session"
#: Java writes an archive in seconds. An archive that is incomplete after this time was abandoned.
_GIVEN_UP_SECONDS = 600
#: Hides warnings about an archive that does not fit: Java goes on without it.
_QUIET = "-Xlog:cds*=off"
#: Environment variables with paths that Spark's launcher adds to the class path.
_ON_CLASS_PATH = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH")


def class_sharing_options(java: Path, jars: Sequence[Path]) -> list[str]:
    """Return options with which `java` starts Spark from an archive, or writes one at its end.

    `jars`: the jars on its class path besides Spark's own jars and those that the environment adds.
    Empty if there is no place for an archive, or if files in a folder may be classes: Java would
    not start.
    """
    spark = Path(pyspark.__file__).parent
    class_path = [spark / "conf", *_of_environment(), *jars]
    if any(path.is_dir() and any(path.iterdir()) for path in class_path):
        return []
    made_for = map(str, [java, spark, *class_path])
    name = hashlib.sha256("\n".join(made_for).encode()).hexdigest()[:16]
    archive = ARCHIVES / f"{name}.jsa"
    try:
        ARCHIVES.mkdir(parents=True, exist_ok=True)
        _take_over_written(archive)
        base = _base_archive(java)
    except OSError:
        return []
    if archive.exists():
        archives = [*filter(None, [base]), archive]
        return [f"-XX:SharedArchiveFile={':'.join(map(str, archives))}", _QUIET]
    return [
        f"-XX:ArchiveClassesAtExit={archive}.{time.time_ns()}",
        *([f"-XX:SharedArchiveFile={base}"] if base else []),
        _QUIET,
    ]


def _of_environment() -> list[Path]:
    paths = (os.environ.get(name, "").split(os.pathsep) for name in _ON_CLASS_PATH)
    return [Path(path) for listed in paths for path in listed if path]


def _take_over_written(archive: Path) -> None:
    """Move an archive that an earlier JVM wrote at its end to its place."""
    for written in archive.parent.glob(f"{archive.name}.*"):
        # Another process may do the same.
        with suppress(FileNotFoundError):
            if _is_whole(written):
                written.replace(archive)
            elif time.time() - written.stat().st_mtime > _GIVEN_UP_SECONDS:
                written.unlink()


def _is_whole(archive: Path) -> bool:
    """Return whether the archive has its header, a magic number that Java writes last."""
    with archive.open("rb") as content:
        return any(content.read(4))


def _base_archive(java: Path) -> Path | None:
    """Return an archive of Java's own classes, on which others build; None if Java includes it."""
    server = java.resolve().parent.parent / "lib" / "server"
    if (server / "classes.jsa").exists():
        return None
    base = ARCHIVES / f"java-{hashlib.sha256(str(java).encode()).hexdigest()[:16]}.jsa"
    if not base.exists():
        written = base.with_name(f"{base.name}.{time.time_ns()}")
        subprocess.run(
            [java, "-Xshare:dump", f"-XX:SharedArchiveFile={written}"],
            capture_output=True,
            check=False,
        )
        written.replace(base)
    return base
