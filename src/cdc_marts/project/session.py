"""The Spark session of a target, and what its errors say to a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cdc_marts.printing import one_line
from cdc_marts.project.notices import notices
from cdc_marts.project.profile import credentials_of, home_of
from cdc_marts.project.target import ProjectError, Target, inside

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def spark_session(
    target: Target | str,
    on_notice: Callable[[str], None] = lambda _: None,
    packages: Sequence[str] = (),
    is_reader: bool = False,
) -> Iterator[SparkSession]:
    """Yield the session that dbt would open for `target`, and close it after the block.

    `target`: a name alone means a target of the project of the current folder. `on_notice` is
    called with reasons why the opening takes long. `packages`: Maven coordinates of further jars.
    `is_reader`: the block only reads, and may run beside a dbt run.
    """
    from dbt.adapters.spark_session.api import close_session

    if isinstance(target, str):
        target = Target.find(target)
    # dbt resolves the relative paths of a profile against the current folder.
    with inside(target.root), notices(on_notice):
        session = credentials_of(target).session(packages, is_reader)
    try:
        yield session
    finally:
        close_session()


def known_errors() -> tuple[type[BaseException], ...]:
    """Return the errors of a command on a target that a person can act on (`explain`)."""
    from dbt.adapters.spark_session.api import SPARK_ERRORS
    from dbt_common.exceptions import DbtBaseException

    return (ProjectError, DbtBaseException, *SPARK_ERRORS)


def explain(error: BaseException, target: Target, of_spark: str = "") -> str:
    """Return what a person needs to know of an error of a command on a target.

    `of_spark`: how the text begins if the error is one of Spark.
    """
    from dbt.adapters.spark_session.api import SPARK_ERRORS, message_of
    from dbt_common.exceptions import DbtBaseException, DbtRuntimeError

    if isinstance(error, SPARK_ERRORS):
        return of_spark + message_of(error, home_of(target))
    if isinstance(error, DbtRuntimeError):
        return error.msg
    return one_line(error) if isinstance(error, DbtBaseException) else str(error)
