"""Signatures that existing code gives to primitives of its own; what they tell follows from the calls themselves here."""
from collections import namedtuple
from enum import Enum

__all__ = ["Signature", "make_sig", "sig_rw", "sig_kind", "sig_dtype"]

sig_rw = Enum("sig_rw", "RW_READ RW_WRITE RW_REF")
sig_kind = Enum("sig_kind", "KIND_POSITIONAL_KEYWORD KIND_VAR_POSITIONAL KIND_KEYWORD_ONLY KIND_VAR_KEYWARD KIND_EMPTY_DEFAULT_VALUE")
sig_dtype = Enum("sig_dtype", "T T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 T16 T17 T18 T19 T_EMPTY_DEFAULT_VALUE")
Signature = namedtuple("Signature", "name rw kind default dtype")


def make_sig(name="var", rw=sig_rw.RW_READ, kind=sig_kind.KIND_POSITIONAL_KEYWORD,
             default=sig_kind.KIND_EMPTY_DEFAULT_VALUE, dtype=sig_dtype.T_EMPTY_DEFAULT_VALUE):
    """What is known about one parameter of a primitive."""
    return Signature(name, rw, kind, default, dtype)
