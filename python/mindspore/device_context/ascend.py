"""Options of Ascend devices, of which there are none here."""
from mindspore.device_context._options import absent, group, values

__all__ = ["device_count", "is_available", "op_debug", "op_precision", "op_tuning"]

device_count, is_available = absent("Ascend")
op_precision = group(
    "Ascend", "op_precision", op_precision_mode={"kind": str}, matmul_allow_hf32={"kind": bool}, conv_allow_hf32={"kind": bool},
    precision_mode={"allowed": ("force_fp16", "allow_fp32_to_fp16", "allow_mix_precision", "must_keep_origin_dtype", "force_fp32",
                                "allow_fp32_to_bf16", "allow_mix_precision_fp16", "allow_mix_precision_bf16")})
op_debug = group("Ascend", "op_debug", execute_timeout={"kind": int}, debug_option={"allowed": ("oom", None)},
                 aclinit_config={"kind": dict})
op_tuning = group("Ascend", "op_tuning", op_compile={"kind": bool}, aoe_tune_mode={"allowed": ("online", "offline")},
                  aoe_job_type={"allowed": ("1", "2")})


def _aclnn_cache(enable_global_cache=False, cache_queue_length=10000):
    values["Ascend", "op_tuning", "aclnn_cache"] = (enable_global_cache, cache_queue_length)


op_tuning.aclnn_cache = _aclnn_cache
