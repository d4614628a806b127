"""Compression for trace.dat, by the library that Debian always has. Debian's trace-cmd reads zstd only."""
import ctypes

from host._common import FAILED, Failure

NAMES = ("zstd",)
ZSTD_LEVEL = 3


def by_name(name):
    """(name, release, function), as head() of _write_head.py takes it; None for none."""
    return zstd() if name else None


def zstd():
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        raise Failure("--compression needs libzstd.so.1 (package libzstd1)", FAILED) from None
    number = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes, library.ZSTD_compressBound.restype = [number], number
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, number, ctypes.c_char_p, number, ctypes.c_int]
    library.ZSTD_compress.restype = number
    library.ZSTD_versionString.restype = ctypes.c_char_p

    def compress(data):
        room = library.ZSTD_compressBound(len(data))
        out = ctypes.create_string_buffer(room)
        size = library.ZSTD_compress(out, room, data, len(data), ZSTD_LEVEL)
        return out.raw[:size]

    return "zstd", library.ZSTD_versionString().decode(), compress
