"""`python -m rigidgrains` is the command line."""

from .cli import main

main()
