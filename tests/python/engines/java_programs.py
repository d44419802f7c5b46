"""Java programs that tests start: engines from jars, with classes of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.python.harness.jars import jar_folder

_SOURCES = Path(__file__).parent / "java"
#: A compiler that is a jar: a machine that runs Java may have none.
_COMPILER = ("org.eclipse.jdt:ecj:3.33.0",)
_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.timezone=UTC")
_LOGGING = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
)


def compiled(source: str, jars: Sequence[Path], folder: Path) -> Path:
    """A class of the folder `java`, compiled against jars; the root folder of its classes."""
    classes = folder / "classes"
    compiler = next(jar_folder("java-compiler", _COMPILER).glob("*ecj*.jar"))
    path = os.pathsep.join(map(str, jars))
    outcome = subprocess.run(
        [
            _java(),
            "-jar",
            compiler,
            "-17",
            "-nowarn",
            "-cp",
            path,
            "-d",
            classes,
            _SOURCES / source,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    return classes


@contextmanager
def java_program(
    class_path: Sequence[Path], main: str, *arguments: str | Path, heap: str, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A program, as long as the block runs; where the block fails its log is printed."""
    path = os.pathsep.join(map(str, class_path))
    with log.open("wb") as output:
        process = subprocess.Popen(
            [_java(), f"-Xmx{heap}", *_OPTIONS, *_LOGGING, "-cp", path, main, *arguments],
            cwd=log.parent,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    except BaseException:
        print(log.read_text(errors="replace")[-20000:])
        raise
    finally:
        process.kill()
        process.wait()


def _java() -> Path:
    return Path(os.environ["JAVA_HOME"]) / "bin" / "java"
