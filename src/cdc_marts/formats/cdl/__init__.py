"""What the two formats of Huawei CDL share."""
