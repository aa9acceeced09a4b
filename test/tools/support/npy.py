"""Arrays of NumPy as files, without NumPy, which may not be installed."""

import ast
import struct

CODES = {"<f4": "f", "<f2": "e", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B", "|V2": "H"}


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def header(kind, shape, is_fortran=False):
    text = repr({"descr": kind, "fortran_order": is_fortran, "shape": tuple(shape)}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def write(path, kind, shape, numbers, **keywords):
    path.write_bytes(header(kind, shape, **keywords) + struct.pack(f"<{count(shape)}{CODES[kind]}", *numbers))
    return path


def read(path):
    """(kind, shape, numbers)"""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    described = ast.literal_eval(data[10 : 10 + length].decode())
    assert (10 + length) % 64 == 0 and not described["fortran_order"]
    numbers = struct.unpack(f"<{count(described['shape'])}{CODES[described['descr']]}", data[10 + length :])
    return described["descr"], described["shape"], list(numbers)
