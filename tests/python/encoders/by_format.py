"""The encoder of each format."""

from __future__ import annotations

from collections.abc import Callable

from tests.python.encoders import (
    canal_json,
    cdl_debezium_json,
    cdl_json,
    datahub_blob,
    datahub_tuple,
    dataworks_json,
    dts_avro_changes,
    lindorm_debezium,
    shareplex_json,
)
from tests.python.encoders.changes import Message

ENCODE: dict[str, Callable[..., list[Message]]] = {
    "lindorm_debezium": lindorm_debezium.encode,
    "dataworks_json": dataworks_json.encode,
    "dts_avro": dts_avro_changes.encode,
    "shareplex_json": shareplex_json.encode,
    "canal_json": canal_json.encode,
    "cdl_json": cdl_json.encode,
    "cdl_debezium_json": cdl_debezium_json.encode,
    "datahub_tuple": datahub_tuple.encode,
    "datahub_blob": datahub_blob.encode,
}
