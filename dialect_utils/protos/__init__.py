"""Serialized protocol buffers that hold HLO modules: the wire format, and which message some bytes are."""

from dialect_utils.protos.modules import Found, find_proto, is_proto_of_module
from dialect_utils.protos.wire import MalformedProtoError

__all__ = ["Found", "MalformedProtoError", "find_proto", "is_proto_of_module"]
