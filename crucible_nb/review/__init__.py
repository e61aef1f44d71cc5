"""The findings scorer: what a reviewer found of what there was to find, and how much of what it said was true."""
