"""This module checks that a Spark session has the settings that the parsers need."""

from __future__ import annotations

from pyspark.sql import SparkSession

#: Settings under which the parsers' expressions mean what they say; the profile has the same ones.
REQUIRED_CONF = {
    # A value that does not fit its type is NULL and reported, never the end of a run.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # One image laid over another.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # One parse per message: no parse of its own for every field that is read.
    "spark.sql.optimizer.enableJsonExpressionOptimization": "false",
    # GBK and its kin; bytes that are not in their charset raise nothing.
    "spark.sql.legacy.javaCharsets": "true",
    "spark.sql.legacy.codingErrorAction": "true",
}


class SessionSettingsError(Exception):
    """In this session a parser would read messages wrongly; the text names the settings."""


def check_session(session: SparkSession) -> None:
    """Raise SessionSettingsError unless the session has all of `REQUIRED_CONF`."""
    differing = [
        f"{name} = {value} (it is {found})"
        for name, value in REQUIRED_CONF.items()
        if (found := str(session.conf.get(name, "not set"))).lower() != value.lower()
    ]
    if differing:
        raise SessionSettingsError(
            "This Spark session would read messages wrongly. Set " + ", ".join(differing) + "."
        )
