"""Passes that choose, check and spread layouts."""
