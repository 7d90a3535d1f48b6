"""The record on disk: tables, files, commits, compaction."""
