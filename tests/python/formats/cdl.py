"""Messages of CDL's two formats for their tests: what both say in other members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from cdc_marts.formats import cdl_debezium_json, cdl_json
from tests.python.formats.connect import changed, enveloped
from tests.python.formats.staging import said

ODD_KEYS = ["g`h", "a.b", "c d", 'e"f', "i'j", "列"]
ODD_ROW = {name: position for position, name in enumerate(ODD_KEYS)}
BIG = 9223372036854775807
BIGGER = 12345678901234567890123456789012345678
TX_ID = 57227595


def properties(**values: Any) -> dict[str, Any]:
    return {"properties": [{"name": name, "value": value} for name, value in values.items()]}


def json_payload(
    operation: str | None,
    data: Any = None,
    before: Any = None,
    lsn: Any = 163955221008,
    **values: Any,
) -> dict[str, Any]:
    return {
        "DATA_STORE": "POSTGRESQL",
        "SEG_OWNER": "public",
        "TABLE_NAME": "ct_pg2hudi",
        "TIMESTAMP": 1707047996013,
        "OPERATION": operation,
        "LOB_COLUMNS": None,
        "transaction": properties(lsn=lsn, txId=TX_ID),
        "unique": {"id": 34},
        "data": data,
        "before": before,
        "message_version": "1.0",
        "message_type": "0",
        "HEARTBEAT_IDENTIFIER": "279fb050-0143-45c1-b184-50bc48c2461c",
        **values,
    }


def debezium_payload(
    op: str | None,
    after: Any = None,
    before: Any = None,
    source: dict[str, Any] | None = None,
    **values: Any,
) -> dict[str, Any]:
    return {
        "before": before,
        "after": after,
        "source": {
            "version": "1.4.0.Final",
            "connector": "postgresql",
            "name": "cdl",
            "ts_ms": 1707048891235,
            "snapshot": "false",
            "db": "cdl",
            "schema": "public",
            "table": "ct_pg2hudi",
            "txId": 57227663,
            "lsn": 163955586912,
            **(source or {}),
        },
        "op": op,
        "ts_ms": 1707048984208,
        "message_version": "2.0",
        "message_type": "0",
        "LOB_COLUMNS": None,
        "unique": {"id": 35},
        **values,
    }


@dataclass(frozen=True)
class Cdl:
    """A format of CDL: its parser, and how it says what both formats say.

    Messages are written by the ops `insert`, `update` and `delete`.
    """

    source_format: str
    parse: Callable[..., Any]
    version: int
    lsn: int
    id: int
    columns: Mapping[str, Any]
    old_time: Any
    #: op -> the code of the format
    codes: Mapping[str, str]
    #: the function that writes a payload, from code, images, table and LSN
    write: Callable[..., dict[str, Any]]
    #: the names of members; `__` separates those of a path
    op_member: str
    table_member: str
    source_member: str
    written_at_member: str
    after_member: str
    #: members of the other format, with other types
    foreign: Mapping[str, Any]
    #: a message of the other format
    of_other_format: Mapping[str, Any]

    @property
    def row(self) -> dict[str, Any]:
        return {"count1": 13, "id": self.id, "time1": None, "decimalNum": None}

    @property
    def old_row(self) -> dict[str, Any]:
        return {"count1": 12, "id": self.id, "time1": self.old_time, "decimalNum": "1.50"}

    @property
    def row_key(self) -> str:
        return f'{{"id":{self.id}}}'

    @property
    def described(self) -> dict[str, Any]:
        """The members of a schema."""
        return {
            "unique": {"id": "int32"},
            self.after_member: self.columns,
            "before": self.columns,
        }

    def payload(
        self,
        op: str | None,
        after: Any = None,
        before: Any = None,
        table: Any = "ct_pg2hudi",
        lsn: Any = None,
        **values: Any,
    ) -> dict[str, Any]:
        """A message without a schema."""
        code = self.codes.get(op or "", op)
        position = self.lsn if lsn is None else lsn
        return self.write(code, after, before, table, position, **values)

    def message(
        self, op: str, after: Any = None, before: Any = None, **values: Any
    ) -> dict[str, Any]:
        """A message with a schema."""
        return enveloped(self.payload(op, after, before, **values), **self.described)

    @property
    def insert(self) -> dict[str, Any]:
        return self.payload("insert", self.row)

    @property
    def update(self) -> dict[str, Any]:
        return self.payload("update", self.row, self.old_row)

    @property
    def delete(self) -> dict[str, Any]:
        return self.payload("delete", before=self.row)

    @property
    def heartbeat(self) -> dict[str, Any]:
        return self.payload(None, table=None, unique=None, HEARTBEAT_IDENTIFIER="279fb050")

    def keyless(self, op: str, after: Any, before: Any = None) -> dict[str, Any]:
        return self.payload(op, after, before, table="keyless", unique={})

    def written_later(self, message: dict[str, Any]) -> dict[str, Any]:
        return changed(message, **{self.written_at_member: 1707048999999})


CDL_JSON = Cdl(
    source_format="cdl_json",
    parse=partial(
        cdl_json.parse,
        key_settings={"public.ct_pg2hudi": ["count1"], "public.set": ["time1", "id"]},
    ),
    version=1,
    lsn=163955221008,
    id=34,
    columns={
        "count1": "int64",
        "id": "int32",
        "time1": ("int64", "org.apache.kafka.connect.data.Timestamp"),
        "decimalNum": ("string", "com.xxx.cdc.data.Decimal"),
    },
    old_time=1707047996013,
    codes={"insert": "INSERT", "update": "UPDATE", "delete": "DELETE"},
    write=lambda code, after, before, table, lsn, **values: json_payload(
        code, after, before, lsn, **{"TABLE_NAME": table, **values}
    ),
    op_member="OPERATION",
    table_member="TABLE_NAME",
    source_member="transaction",
    written_at_member="TIMESTAMP",
    after_member="data",
    foreign={"op": {"x": 1}, "ts_ms": 3, "source": [1]},
    of_other_format={"op": "c", "after": {"id": 1}, "source": {"table": "t", "lsn": 1}},
)
CDL_DEBEZIUM_JSON = Cdl(
    source_format="cdl_debezium_json",
    parse=partial(
        cdl_debezium_json.parse,
        key_settings={"cdl.public.ct_pg2hudi": ["count1"], "cdl.public.set": ["time1", "id"]},
    ),
    version=2,
    lsn=163955586912,
    id=35,
    columns={
        "count1": "int64",
        "id": "int32",
        "time1": ("string", "com.xxx.cdc.data.timestamp"),
        "decimalNum": ("string", "com.xxx.cdc.data.Decimal"),
    },
    old_time="2024-02-04 11:59:56",
    codes={"insert": "c", "update": "u", "delete": "d"},
    write=lambda code, after, before, table, lsn, **values: debezium_payload(
        code, after, before, {"table": table, "lsn": lsn}, **values
    ),
    op_member="op",
    table_member="source__table",
    source_member="source",
    written_at_member="ts_ms",
    after_member="after",
    foreign={"data": 1, "OPERATION": [1], "transaction": {"id": "571:1"}},
    of_other_format={"OPERATION": "INSERT", "TABLE_NAME": "t", "data": {"id": 1}},
)
FORMATS = (CDL_JSON, CDL_DEBEZIUM_JSON)


def each_cdl(messages: Callable[[Cdl], Iterable[Any]]) -> pytest.MarkDecorator:
    """The test is run for each format, and has these messages."""
    return pytest.mark.parametrize(
        "cdl",
        [
            pytest.param(cdl, id=cdl.source_format, marks=said(*messages(cdl), parse=cdl.parse))
            for cdl in FORMATS
        ],
    )


def each_cdl_and(
    argument: str, cases: Callable[[Cdl], Mapping[str, tuple[Any, Any]]]
) -> pytest.MarkDecorator:
    """The test is run for each format and case. A case is what is expected, and a message."""
    return pytest.mark.parametrize(
        ("cdl", argument),
        [
            pytest.param(
                cdl,
                expected,
                id=f"{cdl.source_format}-{name}",
                marks=said(message, parse=cdl.parse),
            )
            for cdl in FORMATS
            for name, (expected, message) in cases(cdl).items()
        ],
    )
