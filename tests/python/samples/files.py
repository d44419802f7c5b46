"""The samples as CSV files, which dbt loads as seeds."""

from __future__ import annotations

import base64
import csv
import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from dbt_common.clients import agate_helper

from cdc_marts.landing.envelopes import Message
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.samples import broken, vendor_examples
from tests.python.samples.shop_messages import shop_messages

FOLDER = Path(__file__).parents[3] / "seeds" / "samples"
COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value", "value_base64")

#: Queue time of the messages that belong to no day of the shop.
_NO_DAY = 1_709_280_000_000
#: What dbt reads as NULL.
_NULLS = ("", "null")


def samples(source_format: str) -> list[Message]:
    """All sample messages of a format: the vendor's, the shop's, and broken ones."""
    sent = [
        *(
            (vendor_examples.TOPIC, _NO_DAY, None, example.value)
            for example in vendor_examples.vendor_examples(source_format)
        ),
        *(
            (topic, sent_at, message.key, message.value)
            for topic, sent_at, message in shop_messages(source_format)
        ),
        *((broken.TOPIC, _NO_DAY, None, case.value) for case in broken.broken(source_format)),
    ]
    offsets: Counter[str] = Counter()
    messages = []
    for topic, sent_at, key, value in sent:
        messages.append(Message(topic, 0, offsets[topic], sent_at, key, value))
        offsets[topic] += 1
    return messages


def path_of(source_format: str) -> Path:
    return FOLDER / f"sample_{source_format}.csv"


def csv_of(messages: Iterable[Message]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for message in messages:
        key = None if message.key is None else message.key.decode()
        value = _text(message.value)
        is_encoded = message.value is not None and value is None
        encoded = base64.b64encode(message.value).decode() if is_encoded else None
        writer.writerow([*message[:4], key, value, encoded])
    return text.getvalue()


def read_csv(path: Path) -> list[Message]:
    """The messages in a file, as dbt reads it."""
    return [
        Message(
            row["topic"],
            int(row["partition"]),
            int(row["offset"]),
            int(row["timestamp"]),
            row["key"] and row["key"].encode(),
            base64.b64decode(row["value_base64"])
            if row["value_base64"]
            else row["value"] and row["value"].encode(),
        )
        for row in agate_helper.from_csv(str(path), text_columns=COLUMNS).rows
    ]


def write() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for source_format in SOURCE_FORMATS:
        path_of(source_format).write_text(csv_of(samples(source_format)), "utf-8", newline="\n")


def _text(value: bytes | None) -> str | None:
    """The value as text, null where a CSV file can't hold it as it is."""
    try:
        text = (value or b"").decode()
    except UnicodeDecodeError:
        return None
    # dbt trims for the comparison, and reads a carriage return as a new line.
    is_kept = text.strip().lower() not in _NULLS and "\r" not in text and "\0" not in text
    return text if is_kept else None
