"""`python -m crucible_nb` is the `crucible` program."""

from crucible_nb.cli import main

main()
