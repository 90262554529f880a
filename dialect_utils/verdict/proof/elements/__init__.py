"""Arrays element by element: what is left where two terms are not one.

Every element is a scalar term, so data movement of any kind is plain indexing, and the algebra of scalars decides.
Arrays of different origin are equal where all their elements are the same terms. Nothing here depends on what
data the parameters hold; sizes are limited, because each element is one term.
"""

from dialect_utils.verdict.proof.elements.element_proof import ELEMENTS, ElementProof

__all__ = ["ELEMENTS", "ElementProof"]
