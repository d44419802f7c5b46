"""DataHub BLOB topics of DataWorks: updates come in two halves, empty members are left out."""

from __future__ import annotations

from benchmarks.messages.message import Message
from benchmarks.messages.streamx import envelopes
from benchmarks.workload import Change


def encode(change: Change) -> list[Message]:
    return envelopes(change, writes_nulls=False)
