"""The line protocol between runner and subject: encoding and decoding of both directions."""
