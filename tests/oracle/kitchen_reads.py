# SPDX-License-Identifier: MIT
"""Shared by the tests of ComfyUI's layout: comfy-kitchen reads the parts of a tensor."""
from transcode_check import torch


def kitchen_layouts():
    """By the format that a layer's mark names."""
    from comfy_kitchen import tensor as kitchen
    return {"float8_e4m3fn": kitchen.TensorCoreFP8Layout, "float8_e5m2": kitchen.TensorCoreFP8Layout,
            "int8_tensorwise": kitchen.TensorWiseINT8Layout, "mxfp8": kitchen.TensorCoreMXFP8Layout,
            "nvfp4": kitchen.TensorCoreNVFP4Layout}


def kitchen_reads(parts, name, format_name, shape):
    """What comfy-kitchen makes of the parts, in fp32."""
    from comfy_kitchen import tensor as kitchen
    layout = kitchen_layouts()[format_name]
    kinds = {"float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2, "mxfp8": torch.float8_e4m3fn}
    codes = torch.tensor(parts[name])
    codes = codes.view(kinds[format_name]) if format_name in kinds else codes
    scale = torch.tensor(parts[name + "_scale"])
    same = {"orig_dtype": torch.float32, "orig_shape": shape}
    if format_name == "nvfp4":
        params = layout.Params(scale=torch.tensor(parts[name + "_scale_2"]), block_scale=scale.view(torch.float8_e4m3fn), **same)
    elif format_name == "mxfp8":
        params = layout.Params(scale=scale.view(torch.float8_e8m0fnu), **same)
    else:
        params = layout.Params(scale=scale, **same)
    return kitchen.QuantizedTensor(codes, layout.__name__, params)
