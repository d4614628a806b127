"""Undoes the compression of a trace.dat: zlib, and zstd by the library that Debian always has."""
import ctypes
import zlib

from host._common import Failure

LARGEST = 1 << 28  # bytes of one piece; a damaged file may say anything
MAY_SAY = ("none", "", "zlib", "zstd")


def zstd_library():
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        raise Failure("reading this file needs libzstd.so.1 (package libzstd1)") from None
    number = ctypes.c_size_t
    library.ZSTD_decompress.argtypes, library.ZSTD_decompress.restype = [ctypes.c_char_p, number, ctypes.c_char_p, number], number
    library.ZSTD_isError.argtypes = [number]
    return library


def unpacked(compression, data, size):
    """The `size` bytes that were packed into data; ValueError if it is not so."""
    if size > LARGEST:
        raise ValueError(f"a packed piece is said to have {size} bytes")
    if compression == "zlib":
        found = zlib.decompressobj().decompress(data, size + 1)
    else:
        library, out = zstd_library(), ctypes.create_string_buffer(size + 1)
        length = library.ZSTD_decompress(out, size, data, len(data))
        if library.ZSTD_isError(length):
            raise ValueError("a piece packed by zstd is not whole")
        found = out.raw[:length]
    if len(found) != size:
        raise ValueError(f"{len(found)} bytes where {size} were packed")
    return found
