"""Options of GPUs, of which there are none here."""
from mindspore.device_context._options import absent, group

__all__ = ["device_count", "is_available", "op_precision", "op_tuning"]

device_count, is_available = absent("GPU")
op_precision = group("GPU", "op_precision", conv_allow_tf32={"kind": bool}, matmul_allow_tf32={"kind": bool})
_ALGORITHMS = ("normal", "performance", "implicit_gemm", "precomp_gemm", "gemm", "direct", "fft", "fft_tiling", "winograd",
               "winograd_nonfused", "algo_0", "algo_1", "algo_3")
op_tuning = group("GPU", "op_tuning", conv_fprop_algo={"allowed": _ALGORITHMS}, conv_dgrad_algo={"allowed": _ALGORITHMS},
                  conv_wgrad_algo={"allowed": _ALGORITHMS})
