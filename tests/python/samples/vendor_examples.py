"""The messages that the vendors' pages show, completed where a page abbreviates.

`vendor_pages/<format>.json` holds each with what it shows and what was filled in.  The page
of DTS Avro shows no bytes, only that a schema change is a text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.python.encoders import dts_avro
from tests.python.encoders.changes import json_bytes

TOPIC = "vendor_examples"

_PAGES = Path(__file__).parent / "vendor_pages"


@dataclass(frozen=True)
class VendorExample:
    """A message, and what its page says that it is."""

    shows: str
    value: bytes
    record_type: str
    op: str | None


def vendor_examples(source_format: str) -> list[VendorExample]:
    """In the order of the page."""
    if source_format == "dts_avro":
        record = dts_avro.ddl("shop.orders", "alter table orders add column channel varchar(20)")
        return [VendorExample("a schema change", dts_avro.encode(record), "ddl", None)]
    page: list[dict[str, Any]] = json.loads((_PAGES / f"{source_format}.json").read_text("utf-8"))
    return [
        VendorExample(
            example["shows"], json_bytes(example["message"]), example["record_type"], example["op"]
        )
        for example in page
    ]
