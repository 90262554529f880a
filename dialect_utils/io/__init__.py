"""Files in and out: finds the modules that a user names, reads any format, and writes files."""
