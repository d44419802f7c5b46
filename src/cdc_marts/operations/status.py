"""The status of a target: what landed, what waits, what was rejected, and when the last run was."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cdc_marts.relations import OWN, Relations
from cdc_marts.source_formats import with_format
from cdc_marts.times import span


@dataclass
class Rejects:
    """Quarantined messages with one code."""

    total: int = 0
    #: number from the last run; None if it is not known which these are
    new: int | None = None


@dataclass
class TopicStatus:
    """The status of the messages of a topic."""

    source_format: str
    topic: str
    #: record type -> number of messages that runs read, without rejected ones
    read: Counter[str] = field(default_factory=Counter)
    #: number of messages that landed after the last run read
    waiting: int = 0
    #: reject code -> quarantined messages
    rejects: dict[str, Rejects] = field(default_factory=dict)
    pending_update_before: int = 0
    statements_not_applied: int = 0
    last_landed_at: dt.datetime | None = None
    #: when the oldest of the waiting messages landed
    oldest_waiting_at: dt.datetime | None = None
    #: the time of the newest event or heartbeat that was read
    last_event_at: dt.datetime | None = None

    @property
    def name(self) -> str:
        """The name of the topic with its format."""
        return with_format(self.topic, self.source_format)

    @property
    def rejected(self) -> int:
        return sum(rejects.total for rejects in self.rejects.values())

    @property
    def landed(self) -> int:
        return self.read.total() + self.rejected + self.waiting

    def lag(self, now: dt.datetime) -> dt.timedelta | None:
        """Return the age of the newest event that was read.

        If no event with a time was read, return the age of the oldest message that waits, or of the
        last landing if none waits.
        """
        since = self.last_event_at or self.oldest_waiting_at or self.last_landed_at
        return None if since is None else now - since

    @property
    def landing_lag(self) -> dt.timedelta | None:
        """The time from the newest event to the newest landing."""
        if self.last_event_at is None or self.last_landed_at is None:
            return None
        return self.last_landed_at - self.last_event_at


@dataclass(frozen=True)
class Run:
    """A run of dbt in the history of runs."""

    command: str
    started_at: dt.datetime
    ended_at: dt.datetime
    #: names of the nodes that failed
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Status:
    """The status of a target."""

    target: str
    checked_at: dt.datetime
    topics: list[TopicStatus]
    #: the last run that ended; None if no run has ended
    last_run: Run | None
    #: when a run last read messages; None if no run has
    last_read_at: dt.datetime | None
    #: sentences about what is not known
    notes: list[str]
    #: where the tables of the target are
    relations: Relations = OWN


def breaches(
    status: Status, max_lag: dt.timedelta | None = None, max_rejects: int | None = None
) -> Iterator[str]:
    """Yield a sentence for each topic and threshold if the topic is above the threshold.

    If no message has landed, the lag is above each threshold.
    """
    if max_lag is not None and not status.topics:
        yield (
            f"No message has landed on target {status.target}, so no topic has a lag of"
            f" {span(max_lag)} or less."
        )
    for topic in status.topics:
        lag = topic.lag(status.checked_at)
        if max_lag is not None and lag is not None and lag > max_lag:
            yield f"{_sentence_on_lag(topic, span(lag))}, more than {span(max_lag)}."
        if max_rejects is not None and topic.rejected > max_rejects:
            messages = "message is" if topic.rejected == 1 else "messages are"
            yield (
                f"{topic.rejected:,} {messages} quarantined of {topic.name},"
                f" more than {max_rejects:,}."
            )


def _sentence_on_lag(topic: TopicStatus, lag: str) -> str:
    """Return the beginning of a sentence that says what is as old as the lag."""
    if topic.last_event_at is not None:
        return f"The newest event of {topic.name} is {lag} old"
    if topic.oldest_waiting_at is not None:
        return f"The oldest message of {topic.name} that waits for a run landed {lag} ago"
    return f"The last message of {topic.name} landed {lag} ago"


def as_json(status: Status) -> dict[str, Any]:
    """Return the status as a JSON object. Times are in ISO 8601, and spans in seconds."""
    run = status.last_run
    return {
        "target": status.target,
        "checked_at": _iso(status.checked_at),
        "last_run": None
        if run is None
        else {
            "command": run.command,
            "started_at": _iso(run.started_at),
            "ended_at": _iso(run.ended_at),
            "outcome": "failed" if run.failed else "succeeded",
            "failed": list(run.failed),
        },
        "last_read_at": _iso(status.last_read_at),
        "topics": [
            {
                "source_format": topic.source_format,
                "topic": topic.topic,
                "landed": topic.landed,
                "waiting": topic.waiting,
                "read": dict(sorted(topic.read.items())),
                "rejected": topic.rejected,
                "rejects": {
                    code: {"total": rejects.total, "new": rejects.new}
                    for code, rejects in sorted(topic.rejects.items())
                },
                "pending_update_before": topic.pending_update_before,
                "statements_not_applied": topic.statements_not_applied,
                "last_landed_at": _iso(topic.last_landed_at),
                "oldest_waiting_at": _iso(topic.oldest_waiting_at),
                "last_event_at": _iso(topic.last_event_at),
                "lag_seconds": _seconds(topic.lag(status.checked_at)),
                "landing_lag_seconds": _seconds(topic.landing_lag),
            }
            for topic in status.topics
        ],
        "notes": status.notes,
    }


def _iso(time: dt.datetime | None) -> str | None:
    return None if time is None else time.isoformat(timespec="seconds")


def _seconds(time: dt.timedelta | None) -> int | None:
    return None if time is None else int(time.total_seconds())
