"""What only the parser of Canal JSON needs."""
