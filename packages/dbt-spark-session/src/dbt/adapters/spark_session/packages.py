"""Further jars than Spark's own: downloaded once, then found in a cache."""

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

#: Run by `spark-submit`, whose own `--packages` would fetch all dependencies, needed or not.
_RESOLVE = """
import sys
from pyspark.java_gateway import launch_gateway

jvm = launch_gateway().jvm
for package in sys.argv[1:]:
    jar = jvm.java.net.URI(f"ivy://{package}?transitive=false")
    jvm.org.apache.spark.util.DependencyUtils.resolveMavenDependencies(jar)
"""


def jar_paths(packages: Sequence[str], cache: Path) -> list[Path]:
    """Return the local jars of Maven coordinates (`group:artifact:version`); download missing ones.

    Every jar is named, and no dependency is resolved. So a start with all jars in the cache needs
    no network and starts no resolver.
    """
    jars = [_cached_jar(package, cache) for package in packages]
    if not all(jar.exists() for jar in jars):
        try:
            cache.mkdir(parents=True, exist_ok=True)
            # Two resolvers at once corrupt each other's downloads.
            with FileLock(cache / "download.lock"):
                missing = [p for p, jar in zip(packages, jars, strict=True) if not jar.exists()]
                if missing:
                    _download(missing, cache)
        except OSError as error:
            raise SessionError(
                f"Jars can't be downloaded into {cache} ({error.strerror}): free space, or correct"
                " its permissions."
            ) from error
    return jars


def _cached_jar(package: str, cache: Path) -> Path:
    group, artifact, version = package.split(":")
    return cache / "jars" / f"{group}_{artifact}-{version}.jar"


def _download(packages: Sequence[str], cache: Path) -> None:
    """Let Spark's own resolver download the jars, with Spark's settings for it."""
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
                # Other settings of Python are for executors, and may not exist on this machine.
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
            f"The jars {', '.join(still_missing)} could not be downloaded. They are downloaded"
            " once, from Maven Central or `DEFAULT_ARTIFACT_REPOSITORY`. Java takes a proxy only"
            f" from `JAVA_TOOL_OPTIONS`. See the resolver's output in {log}."
        )
