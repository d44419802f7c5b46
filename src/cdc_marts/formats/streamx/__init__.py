"""What the formats with a StreamX envelope share: DataWorks JSON and DataHub BLOB, partly TUPLE."""
