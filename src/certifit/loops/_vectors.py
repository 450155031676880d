"""What loops written in LLVM's language share: how wide a vector is, how it is filled, and fetching ahead."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic as _numbas

intrinsic: Any = _numbas  # whose types count the context as an argument of calls
LINE = 64  # bytes of a line of a cache


def _lanes() -> int:
    """Numbers in a vector of the processor that Numba compiles for; 0 where a tile of registers would not pay."""
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    if "+avx512f" in features:
        return 8
    return 4 if {"+avx2", "+fma"} <= set(features) else 0


LANES = _lanes()


def filled(build: ir.IRBuilder, number: ir.Value, vector: ir.VectorType) -> ir.Value:
    """A vector of one number."""
    empty, first = ir.Constant(vector, ir.Undefined), ir.IntType(32)(0)
    one = build.insert_element(empty, number, first)
    return build.shuffle_vector(one, empty, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))


def sums_of_each(build: ir.IRBuilder, vectors: list[ir.Value]) -> ir.Value:
    """The sum of each vector, of as many as a vector has numbers, as one vector: by adding halves, quarters, ..."""
    wide, step = len(vectors), len(vectors) // 2

    def mixed(one: ir.Value, other: ir.Value, places: list[int]) -> ir.Value:
        return build.shuffle_vector(one, other, ir.Constant(ir.VectorType(ir.IntType(32), wide), places))

    while step:
        near = [p if not p & step else wide + p - step for p in range(wide)]
        far = [wide + p if p & step else p + step for p in range(wide)]
        pairs = zip(vectors[:step], vectors[step:])
        vectors = [build.fadd(mixed(x, y, near), mixed(x, y, far)) for x, y in pairs]
        step //= 2
    return vectors[0]


def ask_for(build: ir.IRBuilder, place: ir.Value) -> None:
    """Ask for the line of a byte to be in the second-level cache when it is needed; beyond an array nothing happens."""
    four = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [place.type, four, four, four])
    fetch = cgutils.get_or_insert_function(build.module, kind, "llvm.prefetch")
    build.call(fetch, [place, four(0), four(2), four(1)])


@intrinsic
def fetch(context, X, ahead):
    """Ask for a line of X, so many bytes from its start: memory is then read while the multipliers work."""

    def emit(context, build, signature, args):
        X = context.make_array(signature.args[0])(context, build, args[0])
        ask_for(build, build.gep(build.bitcast(X.data, ir.IntType(8).as_pointer()), [args[1]]))
        return context.get_dummy_value()

    return types.void(X, types.intp), emit
