"""What the formats of Kafka Connect share: Lindorm and the two formats of CDL."""
