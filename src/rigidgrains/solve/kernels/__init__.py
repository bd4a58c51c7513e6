"""Loops over contacts, each written once, and specialised for every kind of contact by the functions it is given."""
