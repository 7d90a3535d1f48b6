"""Headers of frames in their two encodings."""
