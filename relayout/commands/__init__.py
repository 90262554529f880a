"""One command a file, each with its `COMMAND`."""
