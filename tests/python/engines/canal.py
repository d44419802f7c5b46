"""A Canal server that writes a MariaDB's changes to Kafka as flat messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.python.cluster.services import HOST
from tests.python.engines import mariadb
from tests.python.engines.java_programs import compiled, java_program
from tests.python.harness.jars import jar_folder

_PACKAGES = (
    "com.alibaba.otter:canal.server:1.1.7",
    "com.alibaba.otter:connector.kafka:1.1.7",
    "org.slf4j:slf4j-simple:1.7.36",
)
#: Of several that log, the first one found would.
_OTHER_LOGGERS = ("logback-classic", "slf4j-log4j12")
_SETTINGS = """\
kafka.bootstrap.servers = {kafka}
kafka.acks = all
kafka.max.in.flight.requests.per.connection = 1
canal.mq.flatMessage = true
canal.mq.canalBatchSize = 50
canal.mq.canalGetTimeout = 100
topic = {topic}
database.host = {host}
database.port = {port}
database.name = {database}
database.user = {user}
database.password = {password}
"""


@contextmanager
def canal(server: mariadb.MariaDb, kafka: str, topic: str, folder: Path) -> Iterator[None]:
    """A server that begins where the binlog ends now, as long as the block runs.

    `kafka`: its address.  `folder`: for the files of this server.
    """
    settings = folder / "canal.properties"
    settings.write_text(
        _SETTINGS.format(
            kafka=kafka,
            topic=topic,
            host=HOST,
            port=server.port,
            database=mariadb.DATABASE,
            user=mariadb.USER,
            password=mariadb.PASSWORD,
        )
    )
    jars = [
        jar
        for jar in jar_folder("canal", _PACKAGES).glob("*.jar")
        if not any(name in jar.name for name in _OTHER_LOGGERS)
    ]
    classes = compiled("cdc_marts/engines/CanalServer.java", jars, folder)
    main = "cdc_marts.engines.CanalServer"
    log = folder / "canal.log"
    with java_program([classes, *jars], main, settings, heap="256m", log=log) as process:
        yield
        assert process.poll() is None, "the Canal server has ended"
