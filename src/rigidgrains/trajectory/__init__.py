"""The file of a run: written frame by frame, read lazily, resumed to the bit, checked and exported."""
