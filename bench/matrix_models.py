"""The models of the matrix: one of each shape that servers are started with, as its config.json says.

Values are those that the makers of these models publish. The models are old ones, so that a refusal tells of the release and
the GPU; where a release is older still, or an engine never knew the model, its refusal says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gonogo.models.standins import stand_in

_LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "hidden_act": "silu",
    "bos_token_id": 128000,
    "eos_token_id": 128001,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
_MOE = {
    **_LLAMA,
    "architectures": ["MixtralForCausalLM"],
    "model_type": "mixtral",
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 32000,
    "max_position_embeddings": 32768,
    "sliding_window": None,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_MLA = {
    "architectures": ["DeepseekV2ForCausalLM"],
    "model_type": "deepseek_v2",
    "hidden_size": 2048,
    "intermediate_size": 10944,
    "moe_intermediate_size": 1408,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "n_shared_experts": 2,
    "n_routed_experts": 64,
    "num_experts_per_tok": 6,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "greedy",
    "scoring_func": "softmax",
    "norm_topk_prob": False,
    "routed_scaling_factor": 1.0,
    "kv_lora_rank": 512,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 102400,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-06,
    "rope_theta": 10000,
    "hidden_act": "silu",
    "bos_token_id": 100000,
    "eos_token_id": 100001,
    "torch_dtype": "bfloat16",
}
_SLIDING = {
    **_LLAMA,
    "architectures": ["MistralForCausalLM"],
    "model_type": "mistral",
    "sliding_window": 4096,
    "vocab_size": 32000,
    "max_position_embeddings": 32768,
    "rope_theta": 10000.0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_HYBRID = {
    "architectures": ["JambaForCausalLM"],
    "model_type": "jamba",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "attn_layer_offset": 4,
    "attn_layer_period": 8,
    "expert_layer_offset": 1,
    "expert_layer_period": 2,
    "num_experts": 16,
    "num_experts_per_tok": 2,
    "mamba_conv_bias": True,
    "mamba_d_conv": 4,
    "mamba_d_state": 16,
    "mamba_dt_rank": 256,
    "mamba_expand": 2,
    "mamba_proj_bias": False,
    "use_mamba_kernels": True,
    "vocab_size": 65536,
    "max_position_embeddings": 262144,
    "sliding_window": None,
    "rms_norm_eps": 1e-06,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "torch_dtype": "bfloat16",
}
_HYBRID_LINEAR = {
    "architectures": ["Qwen3NextForCausalLM"],
    "model_type": "qwen3_next",
    "hidden_size": 2048,
    "intermediate_size": 5120,
    "moe_intermediate_size": 512,
    "shared_expert_intermediate_size": 512,
    "num_hidden_layers": 48,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "full_attention_interval": 4,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_value_head_dim": 128,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "num_experts": 512,
    "num_experts_per_tok": 10,
    "norm_topk_prob": True,
    "partial_rotary_factor": 0.25,
    "rope_theta": 10000000,
    "rope_scaling": None,
    "vocab_size": 151936,
    "max_position_embeddings": 262144,
    "rms_norm_eps": 1e-06,
    "hidden_act": "silu",
    "bos_token_id": 151643,
    "eos_token_id": 151645,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
_MULTIMODAL = {
    "architectures": ["LlavaForConditionalGeneration"],
    "model_type": "llava",
    "image_token_index": 32000,
    "projector_hidden_act": "gelu",
    "vision_feature_layer": -2,
    "vision_feature_select_strategy": "default",
    "pad_token_id": 32001,
    "text_config": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-05,
        "vocab_size": 32064,
        "torch_dtype": "float16",
    },
    "vision_config": {
        "model_type": "clip_vision_model",
        "hidden_size": 1024,
        "image_size": 336,
        "intermediate_size": 4096,
        "num_attention_heads": 16,
        "num_hidden_layers": 24,
        "patch_size": 14,
        "projection_dim": 768,
        "vocab_size": 32000,
    },
    "torch_dtype": "float16",
}
_LLAVA_PREPROCESSOR = {
    "image_processor_type": "CLIPImageProcessor",
    "processor_class": "LlavaProcessor",
    "do_resize": True,
    "size": {"shortest_edge": 336},
    "crop_size": {"height": 336, "width": 336},
    "do_center_crop": True,
    "do_normalize": True,
    "do_rescale": True,
    "rescale_factor": 0.00392156862745098,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
    "resample": 3,
}
_EMBEDDING = {
    **_SLIDING,
    "architectures": ["MistralModel"],
}
_RERANKER = {
    "architectures": ["XLMRobertaForSequenceClassification"],
    "model_type": "xlm-roberta",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "vocab_size": 250002,
    "max_position_embeddings": 8194,
    "type_vocab_size": 1,
    "layer_norm_eps": 1e-05,
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "id2label": {"0": "LABEL_0"},
    "label2id": {"LABEL_0": 0},
    "bos_token_id": 0,
    "eos_token_id": 2,
    "pad_token_id": 1,
    "torch_dtype": "float32",
}
_AWQ = {
    **_LLAMA,
    "torch_dtype": "float16",
    "quantization_config": {
        "quant_method": "awq",
        "bits": 4,
        "group_size": 128,
        "version": "gemm",
        "zero_point": True,
        "modules_to_not_convert": None,
    },
}
_FP8 = {
    **_LLAMA,
    "quantization_config": {"quant_method": "fp8", "activation_scheme": "static", "ignored_layers": ["lm_head"]},
}

#: shape → config.json
SHAPES: dict[str, dict[str, Any]] = {
    "dense": _LLAMA,
    "moe": _MOE,
    "mla": _MLA,
    "sliding-window": _SLIDING,
    "hybrid": _HYBRID,
    "multimodal": _MULTIMODAL,
    "embedding": _EMBEDDING,
    "reranker": _RERANKER,
    "awq": _AWQ,
    "fp8": _FP8,
}

#: engine → shape → config.json, where the engine never had the model of ``SHAPES``
_OF_ITS_OWN = {"sglang": {"hybrid": _HYBRID_LINEAR}}


def write_models(folder: Path, engine: str) -> Path:
    """Write ``matrix/SHAPE`` below ``folder`` (returned): config, tokenizer, and what the shape has besides."""
    for shape, config in {**SHAPES, **_OF_ITS_OWN.get(engine, {})}.items():
        place = folder / "matrix" / shape
        place.mkdir(parents=True)
        for name, source in stand_in(shape, "dense").files.items():
            (place / name).write_bytes(source.read_bytes())
        (place / "config.json").write_text(json.dumps(config))
        if shape == "multimodal":
            (place / "preprocessor_config.json").write_text(json.dumps(_LLAVA_PREPROCESSOR))
        (place / "model.safetensors").write_bytes(b"")
    return folder
