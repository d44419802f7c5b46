"""Texts for a terminal: those of messages and errors, and counts."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return the text on one line, with unprintable characters escaped (`\x1b`).

    Names and reasons come from messages. They may hold sequences that move the cursor or clear the
    screen, line breaks that fake a line of output, and marks that turn the direction of the text
    after them.
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def printable_lines(text: str) -> str:
    """Return the text with unprintable characters escaped, but with its line breaks.

    The line breaks are the program's own.
    """
    return "\n".join(map(printable, text.split("\n")))


def one_line(text: object) -> str:
    """Return a text, such as that of an error, with single spaces in place of its white space."""
    return " ".join(str(text).split())


def counted(count: int, thing: str) -> str:
    """Return a count with its thing, such as 1 message or 1,000 messages."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
