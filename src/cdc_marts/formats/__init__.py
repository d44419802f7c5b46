"""One parser per format. Code that only one family of formats needs is in its own folder."""
