"""This module checks that a Spark session has the settings that the parsers need."""

from __future__ import annotations

from pyspark.sql import SparkSession

#: The settings that the parsers' expressions need. The profile has the same ones.
REQUIRED_CONF = {
    # A value that does not fit its type is NULL and reported. It never ends a run.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # To merge one image into another.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # One parse per message, not one per field.
    "spark.sql.optimizer.enableJsonExpressionOptimization": "false",
    # For charsets such as GBK, and no error for bytes that are not in their charset.
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
