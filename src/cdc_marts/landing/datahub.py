"""Landing of DataHub topics, from the last landed sequence on.

A topic is `project.topic`, a partition is a shard, and an offset is a sequence. The type of a topic
decides its format. Records are read by the JSON protocol of DataHub's Python SDK, because its other
protocols refuse an empty BLOB record.

Before a landing, a property of the landing table notes when each topic was created. If a topic was
deleted and created again, it has the same name, and sequences from 0.

    cdc-marts.datahub.<project.topic> = <its create time, as DataHub has it>
"""

from __future__ import annotations

import decimal
import functools
import json
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from datahub import DataHub
from datahub.core import DatahubProtocolType
from datahub.exceptions import (
    DatahubException,
    LimitExceededException,
    ResourceNotFoundException,
    SeekOutOfRangeException,
    ShardSealedException,
)
from datahub.models import (
    BlobRecord,
    CursorType,
    Field,
    FieldType,
    RecordSchema,
    RecordType,
    TupleRecord,
)
from datahub.models.compress import CompressFormat
from datahub.models.params import GetRecordsRequestParams
from datahub.rest import Path
from dbt.adapters.spark_session.api import iceberg_table
from pyspark.sql import SparkSession
from requests import RequestException
from requests.adapters import HTTPAdapter

from cdc_marts.landing import LandingError
from cdc_marts.landing.envelopes import MAX_TIMESTAMP, MIN_TIMESTAMP, Message
from cdc_marts.landing.files import land_files
from cdc_marts.landing.outcome import Landing, Partition
from cdc_marts.landing.spool import SpooledMessages
from cdc_marts.landing.tables import create_landing_table, highest_offsets
from cdc_marts.landing.topic_map import is_pattern
from cdc_marts.relations import OWN, Relations

_PROPERTY = "cdc-marts.datahub.{}"
_FORMATS = {RecordType.TUPLE: "datahub_tuple", RecordType.BLOB: "datahub_blob"}
#: Records per request, the most that DataHub allows.
_BATCH = 1000
#: Seconds between tries if DataHub says that there were too many requests.
_PAUSES = (1, 2, 4, 8)
_USER_AGENT = "cdc-marts"
#: More than any sequence.
_NO_END = 2**63 - 1


@dataclass(frozen=True)
class Credentials:
    """An access key of Alibaba Cloud."""

    access_id: str
    access_key: str
    security_token: str = ""


@dataclass(frozen=True)
class DataHubTopic:
    """A topic of a project, as DataHub describes it."""

    project: str
    name: str
    source_format: str
    #: None for a BLOB topic
    schema: Any
    shards: Sequence[str]
    #: when it was created, as DataHub has it; None if DataHub does not say it
    created: int | None

    @property
    def full_name(self) -> str:
        return f"{self.project}.{self.name}"


class DataHubTopics:
    """The topics of a DataHub endpoint. A request that DataHub refuses raises `LandingError`."""

    def __init__(self, endpoint: str, credentials: Credentials) -> None:
        self._endpoint = endpoint
        self._client = DataHub(
            credentials.access_id,
            credentials.access_key,
            endpoint,
            protocol_type=DatahubProtocolType.JSON,
            security_token=credentials.security_token,
            user_agent=_USER_AGENT,
        )
        # The SDK itself does not verify certificates.
        self._rest_client = self._client._datahub_impl._rest_client
        self._rest_client._session.mount("https://", _Verifying(max_retries=3))

    def topics(self, names: Sequence[str]) -> list[DataHubTopic]:
        """Return the topics with these names, `project.topic`. The topic may be a pattern."""
        found = {}
        for name in names:
            project, _, topic = name.partition(".")
            if not project or not topic or is_pattern(project):
                raise LandingError(
                    f"{name!r} names no topic of DataHub. Write project.topic; the topic may be a"
                    " pattern, such as shop.orders_*."
                )
            for match in self._matches(project, topic):
                found[project, match] = self._described(project, match)
        return list(found.values())

    def read(
        self,
        topic: DataHubTopic,
        shard: str,
        next_sequence: int | None,
        skip_lost: bool,
        report: Callable[[str], None],
    ) -> Iterator[Message]:
        """Yield the records of a shard from a sequence on, up to the newest one of now.

        `next_sequence`: None if the shard never landed. A topic with a create time must be the one
        that landed. Raise `LandingError` if DataHub deleted records before they landed, unless
        `skip_lost`.
        """
        shard_name = f"{topic.full_name}, shard {shard}"
        oldest = self._cursor(topic, shard, CursorType.OLDEST)
        if oldest is None:
            return
        newest = self._cursor(topic, shard, CursorType.LATEST)
        # A closed shard may have no cursor at its end: it gets no records any more.
        latest = _NO_END if newest is None else newest.sequence
        start = max(oldest.sequence, 0) if next_sequence is None else next_sequence
        if start > latest + 1 and topic.created is None:
            raise LandingError(
                f"{shard_name} has landed up to sequence {start - 1}, but DataHub has it only up to"
                f" {latest}, and does not say when the topic was created. If it was deleted and"
                " created again, publish its records to a topic with another name: they would count"
                " as landed already. If its records have expired, land it when it has new ones."
            )
        if start < oldest.sequence:
            said = (
                f"DataHub deleted records before they landed: {shard_name},"
                f" {oldest.sequence - start:,} from {start}."
            )
            if not skip_lost:
                raise LandingError(f"{said} Use --skip-lost to land the remaining records.")
            report(said)
            start = oldest.sequence
        if start > latest:
            return
        # The newest sequence of an empty shard may be 0.
        may_be_empty = newest is None or start == max(latest, 0)
        first = self._cursor(topic, shard, CursorType.SEQUENCE, start, may_be_empty)
        if first is None:
            return
        last = start - 1
        for message in self._messages(topic, shard, first.cursor, latest):
            if message.offset <= last:
                raise LandingError(
                    f"{shard_name} has several records with the sequence {message.offset}: the"
                    " topic is written in batches, and the records of a batch cannot be"
                    " distinguished."
                )
            last = message.offset
            yield message

    def _matches(self, project: str, topic: str) -> list[str]:
        if not is_pattern(topic):
            return [topic]
        with self._refusals(project):
            names = self._client.list_topic(project).topic_names
        return sorted(name for name in names if fnmatchcase(name, topic))

    def _described(self, project: str, name: str) -> DataHubTopic:
        with self._refusals(f"{project}.{name}"):
            described = self._client.get_topic(project, name)
            shards = self._client.list_shard(project, name).shards
        source_format = _FORMATS[described.record_type]
        ids = sorted((shard.shard_id for shard in shards), key=int)
        schema = None if described.record_schema is None else _as_integers(described.record_schema)
        # The SDK has 0 if the answer has no time.
        created = described.create_time or None
        return DataHubTopic(project, name, source_format, schema, ids, created)

    def _cursor(
        self,
        topic: DataHubTopic,
        shard: str,
        kind: CursorType,
        sequence: int = -1,
        may_be_empty: bool = False,
    ) -> Any | None:
        """Return a cursor; None if a closed shard has no records left.

        `may_be_empty`: return None too if the shard has no record with this sequence.
        """
        with self._refusals(f"{topic.full_name}, shard {shard}"):
            try:
                return _patiently(
                    lambda: self._client.get_cursor(
                        topic.project, topic.name, shard, kind, sequence
                    )
                )
            except ShardSealedException:
                return None
            except SeekOutOfRangeException:
                if may_be_empty:
                    return None
                raise

    def _messages(
        self, topic: DataHubTopic, shard: str, cursor: str, latest: int
    ) -> Iterator[Message]:
        """Yield the records of a shard from a cursor on, up to the sequence `latest`."""
        while True:
            with self._refusals(f"{topic.full_name}, shard {shard}"):
                try:
                    answer = _patiently(functools.partial(self._fetch, topic, shard, cursor))
                except ShardSealedException:
                    return
                records = [r for r in answer["Records"] if r["Sequence"] <= latest]
                if _has_new_fields(topic, records):
                    topic = self._described(topic.project, topic.name)
                messages = [_message(topic, shard, record) for record in records]
            yield from messages
            is_end = len(records) < len(answer["Records"])
            if is_end or not records or records[-1]["Sequence"] == latest:
                return
            cursor = answer["NextCursor"]

    def _fetch(self, topic: DataHubTopic, shard: str, cursor: str) -> Any:
        """Return the answer of DataHub as it is.

        The SDK itself refuses tuples that are shorter than the schema of their topic: DataHub does
        not fill a field that was added after them.
        """
        content, _ = self._rest_client.post(
            Path.SHARD % (topic.project, topic.name, shard),
            data=GetRecordsRequestParams(cursor, _BATCH).content(),
            compress_format=CompressFormat.LZ4,
        )
        return json.loads(content)

    @contextmanager
    def _refusals(self, what: str) -> Iterator[None]:
        try:
            yield
        except ResourceNotFoundException:
            raise LandingError(
                f"{self._endpoint} has no {what}. Check --topics and --endpoint."
            ) from None
        except DatahubException as error:
            reason = str(error.error_msg or error).rstrip(".")
            raise LandingError(f"DataHub refuses {what} ({reason}).") from None
        except RequestException as error:
            raise LandingError(
                f"DataHub at {self._endpoint} cannot be reached ({error}): check --endpoint and the"
                " network."
            ) from None


def land_datahub(
    session: SparkSession,
    datahub: DataHubTopics,
    topics: Sequence[DataHubTopic],
    skip_lost: bool = False,
    report: Callable[[str], None] = lambda _: None,
    relations: Relations = OWN,
) -> Iterator[Landing]:
    """Append new records to the landing tables of their formats, and yield each landing.

    A format is one commit. A shard resumes after its highest landed sequence. Raise `LandingError`,
    before anything lands, if a topic is not the one that landed before, and if
    `DataHubTopics.read` raises it.
    """
    by_format: dict[str, list[DataHubTopic]] = defaultdict(list)
    for topic in topics:
        by_format[topic.source_format].append(topic)
    highest = {}
    for source_format, found in by_format.items():
        table = relations.landed(source_format)
        create_landing_table(session, table)
        names = [topic.full_name for topic in found]
        highest[source_format] = highest_offsets(session, table, names)
        _check_created(session, table, found, highest[source_format])
    with SpooledMessages() as messages:
        for topic in topics:
            for shard in topic.shards:
                landed = highest[topic.source_format].get((topic.full_name, int(shard)))
                next_sequence = None if landed is None else landed + 1
                for message in datahub.read(topic, shard, next_sequence, skip_lost, report):
                    messages.add(topic.source_format, message)
        yield from land_files(session, messages, relations)


def _check_created(
    session: SparkSession,
    table: str,
    topics: Sequence[DataHubTopic],
    landed: Collection[Partition],
) -> None:
    """Note when the topics were created.

    Raise `LandingError` if a topic is not the one whose records are in `table`. `landed`: its
    partitions.
    """
    landing_table = iceberg_table(session, table)
    properties = landing_table.properties()
    update, is_changed = landing_table.updateProperties(), False
    for topic in topics:
        name = _PROPERTY.format(topic.full_name)
        noted = properties.get(name)
        if topic.created is None or noted == str(topic.created):
            continue
        if noted is not None and any(partition[0] == topic.full_name for partition in landed):
            raise LandingError(
                f"The topic {topic.full_name} is not the one in {table}: it was deleted and created"
                " again, or this is another endpoint. Its records would count as landed already,"
                " because they have the same topic, shard and sequence. Publish them to a topic"
                " with another name."
            )
        update, is_changed = update.set(name, str(topic.created)), True
    if is_changed:
        update.commit()


def _as_integers(schema: RecordSchema) -> RecordSchema:
    """Return the schema with its TIMESTAMPs as the integers (microseconds) that they are.

    The SDK refuses a record with a TIMESTAMP in the last hours of the year 9999.
    """
    return RecordSchema(
        [
            Field(
                field.name,
                FieldType.BIGINT if field.type is FieldType.TIMESTAMP else field.type,
                field.comment,
                field.allow_null,
            )
            for field in schema.field_list
        ]
    )


def _has_new_fields(topic: DataHubTopic, records: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a tuple is longer than the schema: fields were added since it was read."""
    if topic.schema is None:
        return False
    known = len(topic.schema.field_list)
    return any(len(record["Data"]) > known for record in records)


def _message(topic: DataHubTopic, shard: str, record: Mapping[str, Any]) -> Message:
    millis = record["SystemTime"]
    data = record["Data"]
    return Message(
        topic.full_name,
        int(shard),
        record["Sequence"],
        millis if MIN_TIMESTAMP <= millis <= MAX_TIMESTAMP else None,
        None,
        BlobRecord(values=data).blob_data
        if topic.schema is None
        else _json_object(topic.schema, data),
    )


def _json_object(schema: RecordSchema, data: Sequence[str | None]) -> bytes:
    """Return a tuple as a JSON object: integers as numbers, decimals as texts, digit for digit.

    The object has the fields that the topic had when the tuple was written.
    """
    # DataHub adds fields only behind the others.
    fields = schema.field_list[: len(data)]
    values = TupleRecord(field_list=fields, values=data).values
    columns = {field.name: _plain(value) for field, value in zip(fields, values, strict=True)}
    return json.dumps(columns, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _plain(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    # JSON has no such numbers: they become texts, such as NaN.
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    return value


def _patiently(ask: Callable[[], Any]) -> Any:
    for pause in _PAUSES:
        try:
            return ask()
        except LimitExceededException:
            time.sleep(pause)
    return ask()


class _Verifying(HTTPAdapter):
    """An adapter that verifies certificates, by authorities of the environment if it names any."""

    def send(self, *arguments: Any, **options: Any) -> Any:
        bundles = map(os.environ.get, ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"))
        options["verify"] = next(filter(None, bundles), True)
        return super().send(*arguments, **options)
