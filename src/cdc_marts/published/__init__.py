"""Published marts: copies of marts as tables whose format and types all Iceberg readers know."""
