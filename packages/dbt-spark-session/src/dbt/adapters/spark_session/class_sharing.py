"""Class-data sharing: classes that Java has loaded once, it maps from an archive at later starts.

The first JVM writes the archive when it ends, beside the packages of this Python,
and for the class path that it was started with: Java uses it with no other one.
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
#: Java writes an archive in seconds; what is still not whole then was given up.
_GIVEN_UP_SECONDS = 600
#: Nobody needs to know that an archive does not fit (any more): Java goes on without it.
_QUIET = "-Xlog:cds*=off"
#: Environment variables with paths that Spark's launcher adds to the class path.
_ON_CLASS_PATH = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH")


def class_sharing_options(java: Path, jars: Sequence[Path]) -> list[str]:
    """Options by which `java` starts Spark with an archive, or ends with writing one.

    `jars`: what its class path has beside Spark's own jars and what the
    environment adds.  The list is empty where there is no place for an archive, or
    where files in a folder may be classes: Java would not start.
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
    """Put what an earlier JVM wrote at its end in its place."""
    for written in archive.parent.glob(f"{archive.name}.*"):
        # Another process may do the same.
        with suppress(FileNotFoundError):
            if _is_whole(written):
                written.replace(archive)
            elif time.time() - written.stat().st_mtime > _GIVEN_UP_SECONDS:
                written.unlink()


def _is_whole(archive: Path) -> bool:
    """Java writes the header, which begins with a magic number, when the rest is there."""
    with archive.open("rb") as content:
        return any(content.read(4))


def _base_archive(java: Path) -> Path | None:
    """An archive of Java's own classes, on which others build; None where it brings one along."""
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
