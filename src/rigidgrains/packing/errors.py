"""What cannot be done with a packing, told in one line: what, which value, the remedy."""


class PackingError(ValueError):
    """An operation that a packing does not allow."""
