"""Settings of Kafka's clients, from a Java properties file; some of them are secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from dbt.adapters.spark_session.api import is_secret, java_class, message_of
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from cdc_marts.landing import LandingError

#: Settings that a landing, or Spark, sets itself.
_NOT_SETTABLE = {
    "auto.offset.reset",
    "bootstrap.servers",
    "enable.auto.commit",
    "interceptor.classes",
    "key.deserializer",
    "value.deserializer",
}
_DEFAULTS = {
    # Messages of transactions land only if they were committed.
    "isolation.level": "read_committed",
    # Only offsets that exist are read, so a fetch has nothing to wait for. Spark's request for the
    # end of a partition waits for the fetch before it: Kafka's 500 ms would count twice each time.
    "fetch.max.wait.ms": "10",
}

#: Words of a JAAS configuration that are no secrets.
_JAAS_WORDS = {"required", "requisite", "sufficient", "optional", "username", "password", "true"}
_SHORTEST_SECRET = 3


def client_settings(session: SparkSession, path: Path | None) -> tuple[dict[str, str], list[str]]:
    """Return the settings of Kafka's consumer, and the names in the file that it does not use.

    The file is in UTF-8. Apart from this, it is read as by Java: `name=value`, escapes, lines that
    continue after a backslash.
    """
    if path is None:
        return dict(_DEFAULTS), []
    given = _read(session, path)
    known = {
        *java_class(session, "org.apache.kafka.clients.consumer.ConsumerConfig").configNames(),
        *java_class(session, "org.apache.kafka.clients.admin.AdminClientConfig").configNames(),
    }
    unused = sorted(name for name in given if name in _NOT_SETTABLE or name not in known)
    # Unknown settings are passed too: a class that the file names may know them.
    passed = {name: value for name, value in given.items() if name not in _NOT_SETTABLE}
    return {**_DEFAULTS, **passed}, unused


def _read(session: SparkSession, path: Path) -> dict[str, str]:
    properties = java_class(session, "java.util.Properties")()
    readers = java_class(session, "java.io.StringReader")
    try:
        properties.load(readers(path.read_text("utf-8-sig")))
    except OSError as error:
        raise LandingError(f"{path} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise LandingError(f"{path} is not UTF-8 at byte {error.start + 1}.") from error
    except IllegalArgumentException as error:
        reason = message_of(error).rstrip(".")
        raise LandingError(f"{path} is no Java properties file: {reason}.") from None
    return {name: properties.getProperty(name) for name in properties.stringPropertyNames()}


def without_secrets(text: str, settings: Mapping[str, str]) -> str:
    """Return `text` with `***` in place of the secrets in `settings`.

    A secret may stand alone: Kafka's parser of JAAS configurations shows the word where it failed.
    """
    secrets = set()
    for name, value in settings.items():
        if is_secret(name, value):
            secrets |= {value, *re.findall(r"[^\s=;\"']+", value), *re.findall(r"\w+", value)}
    secrets -= _JAAS_WORDS
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text
