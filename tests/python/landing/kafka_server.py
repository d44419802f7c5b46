"""A Kafka broker that tests start and stop, and what producers and administrators do to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pyspark
from py4j.java_gateway import JavaMember
from py4j.protocol import STATIC_PREFIX, Py4JJavaError
from pyspark.sql import SparkSession

from tests.python.cluster.services import HOST, free_port, wait_until
from tests.python.harness.jars import jar_folder

_PACKAGES = ("org.apache.kafka:kafka_2.13:4.1.1", "org.slf4j:slf4j-simple:1.7.36")
_SPARK_HOME = Path(pyspark.__file__).parent

USER, PASSWORD = "cdc", "n0t-printed"
LOGIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required"
    f' username="{USER}" password="{PASSWORD}"'
)
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=OPEN
listeners=OPEN://{host}:{port},LOGIN://{host}:{login_port},CONTROLLER://{host}:{controller_port}
advertised.listeners=OPEN://{host}:{port},LOGIN://{host}:{login_port}
listener.security.protocol.map=OPEN:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.login.plain.sasl.jaas.config={login} user_{user}="{password}";
log.dirs={data}
auto.create.topics.enable=true
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
log.message.timestamp.after.max.ms=9223372036854775807
log.retention.ms=-1
"""
_JAVA_OPTIONS = (
    *("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)

Record = tuple[bytes | None, bytes | None]


class Kafka:
    """A broker as its users see it, through the Kafka client of a session's Java process."""

    def __init__(self, session: SparkSession, server: _Server) -> None:
        self._server = server
        self.address = f"{HOST}:{server.port}"
        self.login_address = f"{HOST}:{server.login_port}"
        self._jvm = session._jvm
        self._clients = self._jvm.org.apache.kafka.clients
        self._admin = self._clients.admin.Admin.create(self._settings())

    def create_topic(self, name: str, partitions: int = 1, **settings: str) -> None:
        topic = self._clients.admin.NewTopic(name, partitions, 1).configs(settings)
        self._admin.createTopics([topic]).all().get()
        self._wait_for_partitions(name, partitions)

    def add_partitions(self, name: str, partitions: int) -> None:
        """`partitions`: how many there are then."""
        more = self._clients.admin.NewPartitions.increaseTo(partitions)
        self._admin.createPartitions({name: more}).all().get()
        self._wait_for_partitions(name, partitions)

    def delete_topic(self, name: str) -> None:
        self._admin.deleteTopics([name]).all().get()
        wait_until(lambda: name not in self.topic_names(), f"the topic {name} is gone")

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """What Kafka's retention does."""
        place = self._jvm.org.apache.kafka.common.TopicPartition(topic, partition)
        # Of two methods of this name Py4J takes the other one.
        name = "org.apache.kafka.clients.admin.RecordsToDelete"
        client = self._jvm._gateway_client
        before_offset = JavaMember("beforeOffset", None, f"{STATIC_PREFIX}{name}", client)
        self._admin.deleteRecords({place: before_offset(before)}).all().get()

    def produce(
        self, topic: str, *records: Record, partition: int = 0, timestamp: int | None = None
    ) -> None:
        """`records`: keys and values."""
        with self._producer() as producer:
            self._send(producer, topic, records, partition, timestamp)

    def produce_in_transaction(self, topic: str, *records: Record, is_committed: bool) -> None:
        with self._producer({"transactional.id": f"of {topic}"}) as producer:
            producer.initTransactions()
            producer.beginTransaction()
            self._send(producer, topic, records, 0, None)
            producer.flush()
            if is_committed:
                producer.commitTransaction()
            else:
                producer.abortTransaction()

    @contextmanager
    def open_transaction(self, topic: str, *records: Record) -> Iterator[None]:
        """Records in a transaction that is not finished, as long as the block runs."""
        with self._producer({"transactional.id": f"open in {topic}"}) as producer:
            producer.initTransactions()
            producer.beginTransaction()
            self._send(producer, topic, records, 0, None)
            producer.flush()
            yield
            producer.commitTransaction()

    def values(self, topic: str, start: int = 0) -> list[bytes | None]:
        """The values in partition 0, from an offset on to the end that it has now."""
        name = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
        deserializers = {"key.deserializer": name, "value.deserializer": name}
        consumer = self._clients.consumer.KafkaConsumer(self._settings(deserializers))
        try:
            place = self._jvm.org.apache.kafka.common.TopicPartition(topic, 0)
            consumer.assign([place])
            end = consumer.endOffsets([place])[place]
            consumer.seek(place, self._jvm.java.lang.Long.valueOf(str(start)))
            found: list[bytes | None] = []
            while consumer.position(place) < end:
                polled = consumer.poll(self._jvm.java.time.Duration.ofSeconds(1))
                found += [record.value() for record in polled.records(place)]
            return found
        finally:
            consumer.close()

    def topic_names(self) -> set[str]:
        return set(self._admin.listTopics().names().get())

    def kill(self) -> None:
        """End the broker at once; its messages stay for `start_again`."""
        self._server.kill()

    def start_again(self) -> None:
        """Start a broker that was killed, on the same messages and ports."""
        self._server.start()
        self.wait_until_it_answers()

    def wait_until_it_answers(self) -> None:
        wait_until(self._answers, "Kafka answers")

    @contextmanager
    def sender(self) -> Iterator[Sender]:
        """For many messages; it waits for a broker that is away, ten minutes at most."""
        patience = str(10 * 60 * 1000)
        settings = {"delivery.timeout.ms": patience, "max.block.ms": patience}
        with self._producer(settings) as producer:
            yield Sender(self._jvm, producer)

    def close(self) -> None:
        self._admin.close()

    @contextmanager
    def _producer(self, settings: Mapping[str, str] | None = None) -> Iterator[Any]:
        name = "org.apache.kafka.common.serialization.ByteArraySerializer"
        serializers = {"key.serializer": name, "value.serializer": name}
        producer = self._clients.producer.KafkaProducer(
            self._settings({**serializers, **(settings or {})})
        )
        try:
            yield producer
        finally:
            producer.close()

    def _send(
        self,
        producer: Any,
        topic: str,
        records: Sequence[Record],
        partition: int,
        timestamp: int | None,
    ) -> None:
        # Py4J makes an int of what fits one.
        as_long = self._jvm.java.lang.Long.valueOf
        time = None if timestamp is None else as_long(str(timestamp))
        for key, value in records:
            message = (topic, partition, time, key, value, None)
            record = self._clients.producer.ProducerRecord(*message)
            producer.send(record)
        producer.flush()

    def _settings(self, settings: Mapping[str, str] | None = None) -> Any:
        properties = self._jvm.java.util.Properties()
        for name, value in {"bootstrap.servers": self.address, **(settings or {})}.items():
            properties.setProperty(name, value)
        return properties

    def _answers(self) -> bool:
        with suppress(Py4JJavaError):
            self.topic_names()
            return True
        return False

    def _wait_for_partitions(self, name: str, partitions: int) -> None:
        def are_there() -> bool:
            with suppress(Py4JJavaError):
                described = self._admin.describeTopics([name]).allTopicNames().get()
                return described.get(name).partitions().size() == partitions
            return False

        wait_until(are_there, f"{name} has {partitions} partitions")


class Sender:
    """A producer that stays open."""

    def __init__(self, jvm: Any, producer: Any) -> None:
        self._producer = producer
        self._record = jvm.org.apache.kafka.clients.producer.ProducerRecord

    def send(self, records: Sequence[tuple[str, int, Record]]) -> list[int]:
        """Send records of topics and partitions in order, and wait for their offsets."""
        promised = [
            self._producer.send(self._record(topic, partition, key, value))
            for topic, partition, (key, value) in records
        ]
        self._producer.flush()
        return [answer.get().offset() for answer in promised]


class _Server:
    """The broker's process, on a folder and on ports that it keeps."""

    def __init__(self, folder: Path) -> None:
        self.port, self.login_port = free_port(), free_port()
        self._folder = folder
        self._properties = folder / "server.properties"
        self._properties.write_text(
            _PROPERTIES.format(
                host=HOST,
                port=self.port,
                login_port=self.login_port,
                controller_port=free_port(),
                data=folder / "data",
                login=LOGIN,
                user=USER,
                password=PASSWORD,
            )
        )
        cluster = ("-t", "cdc_marts-test-cluster", "-c", str(self._properties))
        assert self._java("kafka.tools.StorageTool", "format", *cluster).wait() == 0, self.log()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = self._java("kafka.Kafka", str(self._properties))

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def _java(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return _java(self._folder, log, *arguments)


@contextmanager
def kafka(session: SparkSession) -> Iterator[Kafka]:
    """A broker of its own, as long as the block runs; it runs on the Java of `session`."""
    folder = Path(tempfile.mkdtemp(prefix="kafka-"))
    try:
        server = _Server(folder)
        try:
            server.start()
            clients = Kafka(session, server)
            clients.wait_until_it_answers()
            yield clients
            clients.close()
        except AssertionError:
            print(server.log())
            raise
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _java(folder: Path, log: IO[bytes], *arguments: str) -> subprocess.Popen[bytes]:
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    # The resolver leaves out Scala, which Spark has.
    jars = [
        f"{jar_folder('kafka-broker', _PACKAGES)}/*",
        *map(str, _SPARK_HOME.glob("jars/scala-library-*.jar")),
    ]
    return subprocess.Popen(
        [java, *_JAVA_OPTIONS, "-cp", os.pathsep.join(jars), *arguments],
        cwd=folder,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
