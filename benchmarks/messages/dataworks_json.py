"""DataWorks in Kafka: updates in two halves, as whole-database synchronization writes them."""

from __future__ import annotations

from benchmarks.messages.message import Message
from benchmarks.messages.streamx import envelopes
from benchmarks.workload import Change


def encode(change: Change) -> list[Message]:
    return envelopes(change, writes_nulls=True)
