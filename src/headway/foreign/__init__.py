"""Conversations that other agents wrote down, read into our own words. Pure: lines and values in, messages out."""
