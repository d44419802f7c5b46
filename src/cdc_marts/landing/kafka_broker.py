"""The topics of a Kafka cluster and their offsets, by the Admin client in Spark's Java process."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from dbt.adapters.spark_session.api import java_class
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from cdc_marts.landing import LandingError
from cdc_marts.landing.kafka_settings import without_secrets
from cdc_marts.landing.outcome import Partition
from cdc_marts.times import millis_of

#: Seconds to wait for a broker that does not answer, unless the settings have a timeout.
PATIENCE = 30
_TIMEOUTS = ("default.api.timeout.ms", "request.timeout.ms")
_DESERIALIZER = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
#: Kafka's answer if no message is as new as a time.
_NO_OFFSET = -1
#: The id of a topic if its broker has no ids: zeros.
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"

#: Kafka's exceptions -> what the user can do.
_REMEDIES = {
    "TimeoutException": (
        "check --bootstrap-servers, the network and that each partition has a leader; a broker"
        " that requires TLS or a login does not answer either: set these in --properties"
    ),
    "SslAuthenticationException": "check the ssl.* settings of --properties",
    "SaslAuthenticationException": "check the sasl.* settings of --properties",
    "TopicAuthorizationException": "let this user DESCRIBE and READ the topics",
    "ClusterAuthorizationException": "let this user DESCRIBE and READ the topics",
    "UnsupportedVersionException": "the broker is older than Kafka 2.1, which is too old",
    "ConfigException": "check --bootstrap-servers and --properties",
}
_UNKNOWN_TOPIC = ("UnknownTopicOrPartitionException", "InvalidTopicException")


@dataclass(frozen=True)
class KafkaTopic:
    """A topic as it is now.

    `id`: it changes if the topic is created anew. None if the broker has no ids.
    """

    id: str | None
    partitions: list[int]


class Broker:
    """A connection to a Kafka cluster. A request that Kafka refuses raises `LandingError`."""

    def __init__(self, session: SparkSession, servers: str, settings: Mapping[str, str]) -> None:
        """`servers`: `host:port,…` of one or more brokers of the cluster."""
        self._servers, self._settings = servers, settings
        self._session = session
        timeouts = {name: str(PATIENCE * 1000) for name in _TIMEOUTS}
        properties = self._class("java.util.Properties")()
        for name, value in {
            **(timeouts if not settings.keys() & timeouts.keys() else {}),
            **settings,
            "bootstrap.servers": servers,
            "key.deserializer": _DESERIALIZER,
            "value.deserializer": _DESERIALIZER,
        }.items():
            properties.setProperty(name, value)
        with self._refusals():
            # Check the settings of consumers too: in Spark, wrong settings would fail a whole job.
            self._class("org.apache.kafka.clients.consumer.ConsumerConfig")(properties)
            admins = self._class("org.apache.kafka.clients.admin.Admin")
            self._admin = admins.create(properties)

    def __enter__(self) -> Broker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # By default, `close` would wait for the answers to open requests.
        self._admin.close(self._class("java.time.Duration").ZERO)

    def topic_names(self) -> list[str]:
        """Return the topics that this user may see, without Kafka's internal topics."""
        with self._refusals():
            return sorted(self._admin.listTopics().names().get())

    def topics(self, names: Sequence[str]) -> dict[str, KafkaTopic]:
        """Return name -> topic, of the topics that exist."""
        answers = self._admin.describeTopics(list(names))
        topics = {}
        for name, answer in answers.topicNameValues().items():
            with suppress(_UnknownTopic), self._refusals():
                topics[name] = _topic(answer.get())
        return topics

    def compacted(self, names: Iterable[str]) -> list[str]:
        """Return the topics from which Kafka removes messages with the key of a later one.

        Topics are left out whose settings this user may not see.
        """
        java_resource = self._class("org.apache.kafka.common.config.ConfigResource")
        kind = java_resource.Type.TOPIC
        asked = {name: java_resource(kind, name) for name in names}
        answers = self._admin.describeConfigs(list(asked.values())).values()
        found = []
        for name, asked_of in asked.items():
            with suppress(LandingError), self._refusals():
                policy = answers.get(asked_of).get().get("cleanup.policy").value()
                if "compact" in policy:
                    found.append(name)
        return found

    def first_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offsets of the first messages that still exist, or of the next ones."""
        return self._offsets(partitions, self._offset_spec.earliest(), "READ_UNCOMMITTED")

    def end_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offsets after the last messages that may be read, before open transactions."""
        level = self._settings["isolation.level"].upper()
        return self._offsets(partitions, self._offset_spec.latest(), level)

    def next_offsets(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offsets of the messages that will be written next."""
        return self._offsets(partitions, self._offset_spec.latest(), "READ_UNCOMMITTED")

    def offsets_at(
        self, partitions: Iterable[Partition], time: dt.datetime
    ) -> dict[Partition, int]:
        """Return the offsets of the first messages from a time on, or else of the next messages."""
        # Py4J passes a small number as an int, but Kafka needs a long.
        millis = self._class("java.lang.Long").valueOf(str(millis_of(time)))
        found = self._offsets(
            partitions, self._offset_spec.forTimestamp(millis), "READ_UNCOMMITTED"
        )
        missing = [partition for partition, offset in found.items() if offset == _NO_OFFSET]
        return {**found, **(self.next_offsets(missing) if missing else {})}

    @property
    def _offset_spec(self) -> Any:
        return self._class("org.apache.kafka.clients.admin.OffsetSpec")

    def _offsets(
        self, partitions: Iterable[Partition], spec: Any, level: str
    ) -> dict[Partition, int]:
        java_class = self._class("org.apache.kafka.common.TopicPartition")
        java_partitions = {partition: java_class(*partition) for partition in partitions}
        asked = dict.fromkeys(java_partitions.values(), spec)
        isolation = self._class("org.apache.kafka.common.IsolationLevel").valueOf(level)
        options = self._class("org.apache.kafka.clients.admin.ListOffsetsOptions")(isolation)
        with self._refusals():
            answers = self._admin.listOffsets(asked, options).all().get()
        return {
            partition: answers.get(asked_of).offset()
            for partition, asked_of in java_partitions.items()
        }

    def _class(self, name: str) -> Any:
        return java_class(self._session, name)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except Py4JJavaError as error:
            causes = list(_causes(error.java_exception))
            names = [cause.getClass().getSimpleName() for cause in causes]
            if any(name in _UNKNOWN_TOPIC for name in names):
                raise _UnknownTopic("A topic was deleted just now: check --topics.") from None
            reasons = [cause.getMessage() or cause.getClass().getSimpleName() for cause in causes]
            remedy = next((_REMEDIES[name] for name in names if name in _REMEDIES), None)
            # A known failure is named by its innermost cause.
            reason = reasons[-1] if remedy else ": ".join(reasons)
            raise LandingError(
                f"The request to Kafka at {self._servers} failed"
                f" ({without_secrets(reason.rstrip('.'), self._settings)}):"
                f" {remedy or 'check --properties'}."
            ) from None


class _UnknownTopic(LandingError):
    pass


def _topic(description: Any) -> KafkaTopic:
    topic_id = description.topicId().toString()
    partitions = sorted(partition.partition() for partition in description.partitions())
    return KafkaTopic(None if topic_id == _NO_ID else topic_id, partitions)


def _causes(exception: Any) -> Iterator[Any]:
    """Yield the causes, outermost first, without the wrapper of a future."""
    while exception is not None:
        if exception.getClass().getSimpleName() != "ExecutionException":
            yield exception
        exception = exception.getCause()
