"""What the parser of Canal JSON needs alone."""
