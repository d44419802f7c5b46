"""The jars beside Spark's own: resolved once, then found where they are cached."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyspark
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark_session.errors import SessionError
from filelock import FileLock

logger = AdapterLogger("Spark")

#: Run by `spark-submit`; its own `--packages` would fetch all that a jar names, needed or not.
_RESOLVE = """
import sys
from pyspark.java_gateway import launch_gateway

jvm = launch_gateway().jvm
for package in sys.argv[1:]:
    jar = jvm.java.net.URI(f"ivy://{package}?transitive=false")
    jvm.org.apache.spark.util.DependencyUtils.resolveMavenDependencies(jar)
"""


def jar_paths(packages: Sequence[str], cache: Path) -> list[Path]:
    """Maven coordinates (`group:artifact:version`) -> local jars, downloaded on first use.

    Every jar is named: nothing is resolved transitively, so a start with all
    jars in the cache asks no network and starts no resolver.
    """
    jars = [_cached_jar(package, cache) for package in packages]
    if not all(jar.exists() for jar in jars):
        try:
            cache.mkdir(parents=True, exist_ok=True)
            # Two resolvers at once spoil one another's downloads.
            with FileLock(cache / "download.lock"):
                missing = [p for p, jar in zip(packages, jars, strict=True) if not jar.exists()]
                if missing:
                    _download(missing, cache)
        except OSError as error:
            raise SessionError(
                f"Jars can't be downloaded into {cache} ({error.strerror}): free space, or mend"
                " its rights."
            ) from error
    return jars


def _cached_jar(package: str, cache: Path) -> Path:
    group, artifact, version = package.split(":")
    return cache / "jars" / f"{group}_{artifact}-{version}.jar"


def _download(packages: Sequence[str], cache: Path) -> None:
    """Let Spark's own resolver fetch the jars, with the settings that Spark has for it."""
    logger.info(f"Downloading {len(packages)} jars (once): {', '.join(packages)}")
    home = Path(pyspark.__file__).parent
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(_RESOLVE)
        program.flush()
        answer = subprocess.run(
            [
                str(home / "bin" / "spark-submit"),
                "--master",
                "local[1]",
                "--conf",
                f"spark.jars.ivy={cache}",
                "--conf",
                # What else is set is for executors, and need not be on this machine.
                f"spark.pyspark.driver.python={sys.executable}",
                program.name,
                *packages,
            ],
            env={**os.environ, "SPARK_HOME": str(home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    still_missing = [p for p in packages if not _cached_jar(p, cache).exists()]
    if still_missing:
        log = cache / "download.log"
        log.write_text(answer.stdout)
        raise SessionError(
            f"The jars {', '.join(still_missing)} could not be downloaded: the first start needs"
            f" the network. The resolver's words are in {log}."
        )
