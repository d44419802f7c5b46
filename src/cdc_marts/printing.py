"""Texts that come from messages, as they may be shown on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""A text on one line in which every character shows: what does not is escaped, as `\x1b` is.

    Names and reasons come from messages.  They may hold sequences that move the cursor or
    clear the screen, line breaks that make up a line of output, and marks that turn the
    direction of what follows.
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def printable_lines(text: str) -> str:
    """`printable`, but for the line breaks, which are the program's own."""
    return "\n".join(map(printable, text.split("\n")))
