"""The version of the package, for files and reports that name it."""

__version__ = "0.1.0"
