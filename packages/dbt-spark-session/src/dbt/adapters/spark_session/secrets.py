"""Secrets in settings, which are masked in errors and logs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_common.context import get_invocation_context

#: A part of the name of an option of Spark, Hadoop, Iceberg or Kafka whose value is a secret.
_SECRET_NAME = re.compile(
    r"""(?ix)
    password | passphrase | secret | token | credential | authorization
    | (?:access|api|private)[._-]?key | account[._-]?key(?!provider)
    | (?:sse|encryption|decryption)[._-]key(?![._-]id$) | keystore[._-]key
    | connection[._-]string | jaas[._-]config | user[._-]info
    | (?<![a-z])sas[._-]  # shared access signatures of Azure
    """
)
#: The end of such a name if its value is about a secret, or is the place of a secret.
_ABOUT_SECRET = re.compile(
    r"""(?ix) [._-](?:
    algorithm | at | class | client[._-]id | enabled | endpoint | file | location | mechanism | ms
    | name | path | provider | scope | signature | source | type | uri | url
    )$"""
)
#: A header's value: the scheme of authentication, and the secret.
_AUTHENTICATION = re.compile(r"(?i)(?:basic|bearer)\s+(\S+)")
#: Secrets in a URL: a parameter, and the password between a user's name and the host.
_IN_URL = re.compile(
    r"(?i)(?<=[?&;])((?:[\w.-]*(?:password|passwd|pwd|secret|token)|accountkey|sig)=)([^&;\s\"']+)"
)
_OF_USER = re.compile(r"(//[^/\s:@]+:)([^/\s@]+)(?=@)")
#: If shorter secrets were masked everywhere, other words would be masked too.
_SHORTEST = 4
_HIDDEN = "*****"

_kept: set[str] = set()


def is_secret(name: str, value: str) -> bool:
    """Return whether a setting is a secret, by its name or by a URL with a password in it."""
    return bool(_names_secret(name) or _IN_URL.search(value) or _OF_USER.search(value))


def keep_secrets(settings: Mapping[str, str]) -> None:
    """Mask the secrets of these settings in errors, and in all that dbt logs."""
    for name, value in settings.items():
        found = [match[2] for match in (*_IN_URL.finditer(value), *_OF_USER.finditer(value))]
        if _names_secret(name):
            found += [value, *_AUTHENTICATION.findall(value)]
        _kept.update(secret for secret in found if len(secret) >= _SHORTEST)
    try:
        # The secrets that dbt masks in its events. Each invocation has its own list.
        of_dbt = get_invocation_context().env_secrets
    except LookupError:  # a command, not dbt
        return
    of_dbt.extend(_kept.difference(of_dbt))


def without_secrets(text: str) -> str:
    """Return `text` with asterisks in place of its secrets."""
    for secret in sorted(_kept, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return _OF_USER.sub(rf"\1{_HIDDEN}", _IN_URL.sub(rf"\1{_HIDDEN}", text))


def _names_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _ABOUT_SECRET.search(name)
