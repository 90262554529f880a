"""One command on many inputs: in this process, in several of this machine, or on a cluster, with the same results."""
