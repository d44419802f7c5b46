"""A stand-in for DataHub: it answers the JSON requests of the Python SDK from memory.

Written from the SDK's client code (`rest.py`, `implement.py`, `models/params.py` and `results.py`).
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from datahub.models.compress import get_compressor

HOST = "127.0.0.1"
_TIME = 1_760_000_000_000


@dataclass
class Record:
    """`data`: texts by column in the order of the schema, or bytes."""

    sequence: int
    data: list[str | None] | bytes
    system_time: int = _TIME


@dataclass
class Topic:
    """`columns`: name and type of each, of a TUPLE topic."""

    columns: list[tuple[str, str]] | None = None
    #: when it was created; None if the server does not say it
    created: int | None = _TIME
    #: the sequence of the cursor LATEST of a shard without records; a server may also answer 0
    latest_of_nothing: int = -1
    #: whether the shards are closed, so that there is no cursor LATEST, and none behind the records
    is_closed: bool = False
    #: shard -> its records that are still there
    shards: dict[str, list[Record]] = field(default_factory=lambda: {"0": []})

    def put(self, *data: list[str | None] | bytes, shard: str = "0") -> None:
        records = self.shards.setdefault(shard, [])
        first = records[-1].sequence + 1 if records else 0
        records += [Record(first + index, value) for index, value in enumerate(data)]


class DataHubServer(ThreadingHTTPServer):
    """Projects, by name, with their topics, by name."""

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Handler)
        self.projects: dict[str, dict[str, Topic]] = {}
        #: answers to the next requests for records, in place of those
        self.refusals: list[tuple[int, str]] = []
        #: what happens before the next answer to a request for a cursor
        self.before_cursor: Callable[[], None] | None = None
        #: the user and the limit of each request for records
        self.requests: list[dict[str, Any]] = []

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}"


class _Refused(Exception):
    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


class _Handler(BaseHTTPRequestHandler):
    server: DataHubServer

    def log_message(self, *_: Any) -> None:
        """Tests print nothing."""

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if encoding := self.headers.get("Content-Encoding"):
            size = int(self.headers["x-datahub-content-raw-size"])
            body = get_compressor(encoding).decompress(body, size)
        self._answer(json.loads(body))

    def _answer(self, body: dict[str, Any] | None) -> None:
        try:
            if not re.match(r"DATAHUB key-id:.+", self.headers.get("Authorization", "")):
                raise _Refused(401, "Unauthorized")
            status, answer = 200, self._result(body)
        except _Refused as refused:
            status = refused.status
            answer = {"ErrorCode": refused.code, "ErrorMessage": f"It is {refused.code}."}
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("x-datahub-request-id", "request")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _result(self, body: dict[str, Any] | None) -> dict[str, Any]:
        _, _, project, _, *rest = self.path.split("/")
        topics = self.server.projects.get(project)
        if topics is None:
            raise _Refused(404, "NoSuchProject")
        if not rest:
            return {"TopicNames": sorted(topics)}
        topic = topics.get(rest[0])
        if topic is None:
            raise _Refused(404, "NoSuchTopic")
        if len(rest) == 1:
            return _description(topic)
        if len(rest) == 2:
            shards = [{"ShardId": shard, "State": "ACTIVE"} for shard in topic.shards]
            return {"Shards": shards, "Protocol": "http1.1", "Interval": 0}
        assert body is not None
        records = topic.shards[rest[2]]
        if body["Action"] != "cursor":
            return self._records(topic, records, body)
        happens, self.server.before_cursor = self.server.before_cursor, None
        if happens is not None:
            happens()
        return _cursor(topic, records, body)

    def _records(self, topic: Topic, records: list[Record], body: dict[str, Any]) -> dict[str, Any]:
        self.server.requests.append(body)
        if self.server.refusals:
            raise _Refused(*self.server.refusals.pop(0))
        start = int(body["Cursor"])
        found = [record for record in records if record.sequence >= start][: body["Limit"]]
        if topic.is_closed and not found:
            raise _Refused(400, "InvalidShardOperation")
        return {
            "NextCursor": str(found[-1].sequence + 1 if found else start),
            "RecordCount": len(found),
            "StartSeq": found[0].sequence if found else -1,
            "Records": [
                {
                    "Data": base64.b64encode(record.data).decode()
                    if isinstance(record.data, bytes)
                    else record.data,
                    "Sequence": record.sequence,
                    "SystemTime": record.system_time,
                    "Attributes": {},
                }
                for record in found
            ],
        }


def _description(topic: Topic) -> dict[str, Any]:
    described: dict[str, Any] = {
        "ShardCount": len(topic.shards),
        "RecordType": "BLOB" if topic.columns is None else "TUPLE",
    }
    if topic.created is not None:
        described["CreateTime"] = topic.created
    if topic.columns is not None:
        fields = [{"name": name, "type": kind} for name, kind in topic.columns]
        described["RecordSchema"] = json.dumps({"fields": fields})
    return described


def _cursor(topic: Topic, records: list[Record], body: dict[str, Any]) -> dict[str, Any]:
    first, last = (records[0].sequence, records[-1].sequence) if records else (0, -1)
    latest = last if records else topic.latest_of_nothing
    if topic.is_closed and (body["Type"] == "LATEST" or not records):
        raise _Refused(400, "InvalidShardOperation")
    sequence = {"OLDEST": first, "LATEST": latest}.get(body["Type"], body.get("Sequence"))
    if body["Type"] == "SEQUENCE" and not first <= sequence <= last:
        raise _Refused(400, "SeekOutOfRange")
    return {"Cursor": str(max(sequence, 0)), "RecordTime": _TIME, "Sequence": sequence}


@contextmanager
def datahub_server() -> Iterator[DataHubServer]:
    """A server of its own, as long as the block runs."""
    with DataHubServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
