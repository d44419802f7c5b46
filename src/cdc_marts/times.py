"""Times in settings and options."""

from __future__ import annotations

import datetime as dt


def utc_of(text: str) -> dt.datetime:
    """A time in ISO 8601, which is in UTC if it names no zone.

    Raises ValueError if the text is no such time.
    """
    # Before Python 3.11 `fromisoformat` does not know Z.
    time = dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return time.astimezone(dt.timezone.utc) if time.tzinfo else time.replace(tzinfo=dt.timezone.utc)
