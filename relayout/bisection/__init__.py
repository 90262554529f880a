"""The search for the pass of XLA:CPU after which a module computes something else than it defines."""
