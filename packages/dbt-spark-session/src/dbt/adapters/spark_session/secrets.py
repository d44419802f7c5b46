"""Settings that nobody but Spark is to see, left out of what is said and kept."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_common.context import get_invocation_context

_SECRET_NAME = re.compile("(?i)password|secret|token|credential|access[._-]?key")
#: In a URL: a parameter, and what stands between a user's name and the host.
_IN_URL = re.compile(r"(?i)(?<=[?&;])((?:password|passwd|pwd|secret|token)=)([^&;\s\"']+)")
_OF_USER = re.compile(r"(//[^/\s:@]+:)([^/\s@]+)(?=@)")
#: Left out everywhere, a shorter one would take half of a sentence with it.
_SHORTEST = 4
_HIDDEN = "*****"

_kept: set[str] = set()


def is_secret(name: str, value: str) -> bool:
    """Whether a setting is a secret, by its name or by a URL with a password in it."""
    return bool(_SECRET_NAME.search(name) or _IN_URL.search(value) or _OF_USER.search(value))


def keep_secrets(settings: Mapping[str, str]) -> None:
    """Have the secrets of these settings left out of errors, and of all that dbt logs."""
    for name, value in settings.items():
        found = [match[2] for match in (*_IN_URL.finditer(value), *_OF_USER.finditer(value))]
        if _SECRET_NAME.search(name):
            found.append(value)
        _kept.update(secret for secret in found if len(secret) >= _SHORTEST)
    try:
        # Of each invocation anew: what dbt leaves out of its events.
        of_dbt = get_invocation_context().env_secrets
    except LookupError:  # a command, not dbt
        return
    of_dbt.extend(_kept.difference(of_dbt))


def without_secrets(text: str) -> str:
    """`text` with asterisks in place of the secrets in it."""
    for secret in sorted(_kept, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return _OF_USER.sub(rf"\1{_HIDDEN}", _IN_URL.sub(rf"\1{_HIDDEN}", text))
