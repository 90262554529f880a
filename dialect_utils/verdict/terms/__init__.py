"""Terms of modules by the definitions of operations, and the semantics of terms; shared by proof and replay."""
