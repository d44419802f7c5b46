"""Settings that nobody but Spark is to see, left out of what is said and kept."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_common.context import get_invocation_context

#: In the name of an option of Spark, Hadoop, Iceberg or Kafka whose value is a secret.
_SECRET_NAME = re.compile(
    r"""(?ix)
    password | passphrase | secret | token | credential | authorization
    | (?:access|api|private)[._-]?key | account[._-]?key(?!provider)
    | (?:sse|encryption|decryption)[._-]key(?![._-]id$) | keystore[._-]key
    | connection[._-]string | jaas[._-]config | user[._-]info
    | (?<![a-z])sas[._-]  # shared access signatures of Azure
    """
)
#: At the end of such a name: what is said about a secret, or where it is.
_ABOUT_SECRET = re.compile(
    r"""(?ix) [._-](?:
    algorithm | at | class | client[._-]id | enabled | endpoint | file | location | mechanism | ms
    | name | path | provider | scope | signature | source | type | uri | url
    )$"""
)
#: A header's value: how it authenticates, and what with.
_AUTHENTICATION = re.compile(r"(?i)(?:basic|bearer)\s+(\S+)")
#: In a URL: a parameter, and what stands between a user's name and the host.
_IN_URL = re.compile(
    r"(?i)(?<=[?&;])((?:[\w.-]*(?:password|passwd|pwd|secret|token)|accountkey|sig)=)([^&;\s\"']+)"
)
_OF_USER = re.compile(r"(//[^/\s:@]+:)([^/\s@]+)(?=@)")
#: Left out everywhere, a shorter one would take half of a sentence with it.
_SHORTEST = 4
_HIDDEN = "*****"

_kept: set[str] = set()


def is_secret(name: str, value: str) -> bool:
    """Whether a setting is a secret, by its name or by a URL with a password in it."""
    return bool(_names_secret(name) or _IN_URL.search(value) or _OF_USER.search(value))


def keep_secrets(settings: Mapping[str, str]) -> None:
    """Have the secrets of these settings left out of errors, and of all that dbt logs."""
    for name, value in settings.items():
        found = [match[2] for match in (*_IN_URL.finditer(value), *_OF_USER.finditer(value))]
        if _names_secret(name):
            found += [value, *_AUTHENTICATION.findall(value)]
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


def _names_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _ABOUT_SECRET.search(name)
