"""Spark's errors on a query, as a sentence with the place in the query."""

from __future__ import annotations

import re

from dbt.adapters.spark_session.api import message_of, without_secrets
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

#: The place in errors of the parser, the analysis and a running query, and what to add to its
#: position: only the last one counts from one.
_PLACES = (
    (re.compile(r"\(line (\d+), pos (\d+)\)"), 1),
    (re.compile(r"; line (\d+) pos (\d+)"), 1),
    (re.compile(r"\(line (\d+), position (\d+)\)"), 0),
)
#: The condition before a message, and what follows the message: a code, the query, a plan.
_CONDITION = re.compile(r"^\[[\w.]+\] ")
_BEHIND = re.compile(r"\s*SQLSTATE: \w+|;? line \d+ pos \d+|\n")


def sentence_of(error: BaseException) -> str:
    """Return the message of an error with its line and position, which count from one."""
    if isinstance(error, Py4JJavaError):
        # The outer errors are about iterating over a result, the innermost is about a row.
        text = _root_cause(error)
    elif isinstance(error, PySparkException):
        text = str(error).strip()
    else:
        return message_of(error)
    text = without_secrets(text)
    message = _BEHIND.split(_CONDITION.sub("", text), maxsplit=1)[0].rstrip(".;: ")
    for pattern, missing in _PLACES:
        if found := pattern.search(text):
            return f"{message} (line {found[1]}, position {int(found[2]) + missing})."
    return f"{message}."


def _root_cause(error: Py4JJavaError) -> str:
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return cause.getMessage() or cause.toString()
