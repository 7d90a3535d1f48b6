"""Kinds of clients, one file each: releases and start."""
