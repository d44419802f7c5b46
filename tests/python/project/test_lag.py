"""The lag of a topic says how far runs are behind, also if they have read none of its events."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from cdc_marts.operations.status import Status, TopicStatus, breaches

NOW = dt.datetime(2026, 11, 29, tzinfo=dt.timezone.utc)


def ago(hours: int) -> dt.datetime:
    return NOW - dt.timedelta(hours=hours)


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (
            {"last_event_at": ago(3), "oldest_waiting_at": ago(5), "last_landed_at": ago(0)},
            "The newest event of shop (canal_json) is 3h old, more than 2h.",
        ),
        # No run reads the topic, in which messages land all the time.
        (
            {"oldest_waiting_at": ago(5), "last_landed_at": ago(0)},
            "The oldest message of shop (canal_json) that waits for a run landed 5h ago, more than"
            " 2h.",
        ),
        # All messages were read and rejected.
        (
            {"last_landed_at": ago(4)},
            "The last message of shop (canal_json) landed 4h ago, more than 2h.",
        ),
        ({"last_event_at": ago(1), "oldest_waiting_at": ago(5)}, None),
        ({"last_landed_at": ago(1)}, None),
        ({}, None),
    ],
)
def test_a_lag_above_the_threshold_says_what_is_as_old(
    times: dict[str, Any], sentence: str | None
) -> None:
    status = Status("local", NOW, [TopicStatus("canal_json", "shop", **times)], None, None, [])

    passed = list(breaches(status, dt.timedelta(hours=2)))

    assert passed == ([] if sentence is None else [sentence])


def test_a_target_without_messages_is_above_each_lag() -> None:
    status = Status("prod", NOW, [], None, None, [])

    assert list(breaches(status, dt.timedelta(hours=2))) == [
        "No message has landed on target prod, so no topic has a lag of 2h or less."
    ]
    assert list(breaches(status, max_rejects=0)) == []
