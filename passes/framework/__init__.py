"""The declaration of passes, their options, the registry, and pipelines."""
