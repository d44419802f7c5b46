"""DataWorks in Kafka: updates come in two halves, as from whole-database synchronization."""

from __future__ import annotations

from benchmarks.messages.message import Message
from benchmarks.messages.streamx import envelopes
from benchmarks.workload import Change


def encode(change: Change) -> list[Message]:
    return envelopes(change, writes_nulls=True)
