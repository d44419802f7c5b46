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
from cdc_marts.project.session import explain
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
    """The session of a target; what goes wrong in it ends the command with a sentence.

    `packages`, `is_reader`: as `project.spark_session` takes them.
    """
    with errors.status("Starting Spark") as starting:
        from dbt.adapters.spark_session.api import SPARK_ERRORS
        from dbt_common.exceptions import DbtRuntimeError

        try:
            with project.spark_session(
                target, on_notice=say, packages=packages, is_reader=is_reader
            ) as session:
                starting.stop()
                # Spark's own handler asks the JVM in the middle of another answer.
                signal.signal(signal.SIGINT, _interrupt)
                yield session
        except KeyboardInterrupt:
            stop("Interrupted.", INTERRUPTED)
        except ProjectError as error:
            stop(str(error), WRONG_USE)
        except DbtRuntimeError as error:
            stop(error.msg, FAILED)
        except SPARK_ERRORS as error:
            stop(f"{failed}: {explain(error, target)}", FAILED)


def _interrupt(*_: object) -> NoReturn:
    # Of a call that is broken off Spark has much to say.
    logging.disable()
    warnings.simplefilter("ignore")
    raise KeyboardInterrupt
