"""NumPy and the arrays of the index. NumPy takes 12 MB, so only servers that search load it."""

from typing import TYPE_CHECKING, Any

from outlast.base.lazy_module import LazyModule

__all__ = ["Bytes", "Floats", "Int32s", "Int64s", "Uint16s", "np"]

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Int64s = npt.NDArray[np.int64]
    Int32s = npt.NDArray[np.int32]
    Uint16s = npt.NDArray[np.uint16]
    Bytes = npt.NDArray[np.uint8]
else:
    np = LazyModule("numpy")
    Floats = Int64s = Int32s = Uint16s = Bytes = Any
