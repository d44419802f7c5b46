"""Errors that a person can act on: one sentence, no stack trace."""

from collections.abc import Mapping
from pathlib import Path

from dbt.adapters.spark_session.secrets import without_secrets
from dbt_common.exceptions import DbtRuntimeError
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

#: Errors of calls of Spark. A `ConnectionError` comes if its Java process was killed.
SPARK_ERRORS = (PySparkException, Py4JError, ConnectionError)

#: A message of Java, the catalog or the system -> the state of the folder, and what to do.
_STORAGE = {
    "No space left on device": ("is full", "free space there"),
    "database or disk is full": ("is full", "free space there"),
    "Disk quota exceeded": ("is full for this user", "free space there"),
    "Read-only file system": ("can't be written", "make it writable"),
    "Permission denied": ("can't be written", "correct its permissions"),
    "attempt to write a readonly database": ("can't be written", "correct its permissions"),
    "unable to open database file": ("can't be written", "correct its permissions"),
}
#: Iceberg says one of these of a commit that would be over a minute older than the last one.
_OLDER_COMMIT = (
    "Expected sorted snapshot log entries",
    "Expected sorted previous metadata log entries",
    "Invalid update timestamp",
)


#: Setting of the target -> the environment variable from which its profile takes it.
_variables: dict[str, str] = {}


def name_variables(variables: Mapping[str, str]) -> None:
    """Name these environment variables in messages, instead of settings of the target."""
    _variables.clear()
    _variables.update(variables)


def means_of(setting: str) -> str:
    """Return how a person changes a setting of the target."""
    return _variables.get(setting, f"`{setting}` in profiles.yml")


class SessionError(DbtRuntimeError):
    """The Spark session could not be opened; the message says why and what to do."""


def message_of(error: BaseException, home: str | Path | None = None) -> str:
    """Return what a person needs to know of an error, without secrets or JVM stack traces.

    `home`: the folder of an embedded catalog. If something on disk fails, it is this folder that is
    full or not writable.
    """
    if isinstance(error, Py4JNetworkError | ConnectionError):
        log = f" (its log is {Path(home).absolute() / 'spark.log'})" if home is not None else ""
        return (
            f"Spark's Java process has ended{log}: it was killed, or had no memory left. What was"
            f" committed stays; run again, with more {means_of('spark.driver.memory')} if memory"
            " was short."
        )
    text = str(error)
    for said in _OLDER_COMMIT:
        if said in text:
            return (
                "The clock of this machine is more than a minute behind the last commit to a table,"
                f" so Iceberg refuses to commit ({said}). Set the clocks of all machines that"
                " write, such as by NTP, and run again. What was committed stays."
            )
    if home is not None:
        for said, (matter, remedy) in _STORAGE.items():
            if said in text:
                return (
                    f"The folder {Path(home).absolute()} {matter} ({said}): {remedy}, or choose"
                    f" another folder with {means_of('home')}, and run again. What was committed"
                    " stays."
                )
    if isinstance(error, PySparkException):
        text = error.getMessage() or text
    return without_secrets(text.split("\n\nJVM stacktrace:")[0].split("\n\tat ")[0].strip())
