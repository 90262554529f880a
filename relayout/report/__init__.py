"""Pages of a memory report: for the terminal, as one HTML file, and as rows for other programs."""
