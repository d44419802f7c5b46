"""The Spark session of a command, and its errors as sentences."""

from __future__ import annotations

import logging
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from cdc_marts import project
from cdc_marts.cli.console import FAILED, INTERRUPTED, WRONG_USE, errors, say, stop
from cdc_marts.project.session import explain, known_errors
from cdc_marts.project.target import ProjectError, Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def open_session(
    target: Target,
    failed: str = "Spark failed",
    packages: Sequence[str] = (),
    is_reader: bool = False,
) -> Iterator[SparkSession]:
    """Yield the session of a target. An error in the block ends the command with a sentence.

    `packages`, `is_reader`: as in `project.spark_session`.
    """
    with errors.status("Starting Spark") as starting:
        try:
            with project.spark_session(
                target, on_notice=say, packages=packages, is_reader=is_reader
            ) as session:
                starting.stop()
                # Spark's own handler calls the JVM while another call is still open.
                signal.signal(signal.SIGINT, _interrupt)
                yield session
        except KeyboardInterrupt:
            stop("Interrupted.", INTERRUPTED)
        except known_errors() as error:
            code = WRONG_USE if isinstance(error, ProjectError) else FAILED
            stop(explain(error, target, f"{failed}: "), code)


def _interrupt(*_: object) -> NoReturn:
    # Spark logs many warnings about an interrupted call.
    logging.disable()
    warnings.simplefilter("ignore")
    raise KeyboardInterrupt
