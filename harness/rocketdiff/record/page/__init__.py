"""The record as one offline page."""
