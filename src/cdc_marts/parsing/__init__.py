"""The tool kit of the format parsers: pure column expressions, no Python workers."""
