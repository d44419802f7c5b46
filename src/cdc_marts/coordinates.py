"""The coordinates of messages."""

#: The columns that identify a message.
COORDINATES = ("topic", "partition", "offset")
