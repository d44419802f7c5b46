"""A module that the two formats of Huawei CDL share."""
