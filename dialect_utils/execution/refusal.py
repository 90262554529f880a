"""What every engine would refuse or die of: nothing may be said of it, whatever a proof finds."""

from dialect_utils.text import DiagnosticError


class RefusedError(DiagnosticError):
    """A module that means nothing here, wherever it is executed, and with how much memory."""
