"""The parsers share these modules. They build column expressions, and need no Python workers."""
