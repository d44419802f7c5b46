"""Jars that tests run as their own programs, with their dependencies, resolved by Spark."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pyspark
from filelock import FileLock

_SPARK_HOME = Path(pyspark.__file__).parent
_CACHE = Path.home() / ".ivy2.5.2"


def jar_folder(name: str, packages: Sequence[str]) -> Path:
    """Return the folder of the jars of Maven coordinates (`group:artifact:version`).

    The jars are downloaded once, into a cache of this name, since other programs need other
    versions of the same jars. Scala is left out: Spark has it.
    """
    cache = _CACHE / name
    complete = cache / "complete"
    wanted = "\n".join(packages)
    cache.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(cache.with_suffix(".lock")):
        if not complete.exists() or complete.read_text() != wanted:
            program = cache / "nothing.py"
            program.parent.mkdir(parents=True, exist_ok=True)
            program.touch()
            submit = _SPARK_HOME / "bin" / "spark-submit"
            settings = ("--conf", f"spark.jars.ivy={cache}", "--packages", ",".join(packages))
            resolved = subprocess.run(
                [submit, "--master", "local[1]", *settings, program],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert resolved.returncode == 0, resolved.stdout
            complete.write_text(wanted)
    return cache / "jars"
