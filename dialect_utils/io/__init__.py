"""Files in and out: finds the modules that a user names, reads them whatever their format, and writes them."""
