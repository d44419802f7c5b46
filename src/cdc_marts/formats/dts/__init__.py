"""What only the parser of DTS Avro needs."""
