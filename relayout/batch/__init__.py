"""One command on many inputs: in this process, in several processes, or on a cluster, with the same results."""
