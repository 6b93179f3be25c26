"""Write the tiny models that the oracle asks real engines about: configurations and tokenizers, no weights.

    python make_tiny_models.py FOLDER [NAME ...]      needs transformers and tokenizers (an oracle environment has them)

Start-up code up to the validated configuration reads config.json, tokenizer, generation and preprocessor
configuration, never weights. Each model stands for a kind that start-up code treats in its own way. The two
dense ones have the shapes of the first recorded answers (8 heads, 4 KV heads, 4 layers, 2048 positions).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

Files = dict[str, Any]
"""What a model's folder holds beside its tokenizer: file name -> JSON value."""

_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<pad>"]
_THINKING = ["<think>", "</think>"]
_VISION = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
_VOCABULARY = 512
_SHAPE: dict[str, Any] = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "max_position_embeddings": 2048,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "pad_token_id": 3,
    "tie_word_embeddings": True,
    "rms_norm_eps": 1e-6,
    "dtype": "bfloat16",
}
_GENERATION = {"bos_token_id": 0, "eos_token_id": [2, 0], "pad_token_id": 3, "temperature": 0.6, "top_p": 0.95}
_FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [128, 128]}
_GPTQ = {
    "quant_method": "gptq",
    "bits": 4,
    "group_size": 128,
    "desc_act": False,
    "sym": True,
    "checkpoint_format": "gptq",
}


def _config(kind: str, architecture: str, **settings: Any) -> Any:
    made = getattr(transformers, kind)(**settings)
    made.architectures = [architecture]
    return made


def _causal(kind: str, architecture: str, **settings: Any) -> Any:
    return _config(kind, architecture, **{**_SHAPE, "vocab_size": _VOCABULARY, **settings})


def _llama() -> Files:
    return {"config.json": _causal("LlamaConfig", "LlamaForCausalLM", vocab_size=4096)}


def _qwen3() -> Files:
    return {"config.json": _causal("Qwen3Config", "Qwen3ForCausalLM", vocab_size=4096, head_dim=32)}


def _qwen3_moe() -> Files:
    experts = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "head_dim": 32}
    return {
        "config.json": _causal("Qwen3MoeConfig", "Qwen3MoeForCausalLM", **experts),
        "generation_config.json": _GENERATION,
    }


def _gemma3() -> Files:
    """Sliding-window attention in three layers of four."""
    layers = ["sliding_attention"] * 3 + ["full_attention"]
    return {
        "config.json": _causal(
            "Gemma3TextConfig", "Gemma3ForCausalLM", head_dim=32, sliding_window=512, layer_types=layers
        ),
        "generation_config.json": _GENERATION,
    }


def _qwen2_5_vl() -> Files:
    """Pictures and videos."""
    text = {
        **_SHAPE,
        "vocab_size": _VOCABULARY,
        "rope_parameters": {"rope_type": "default", "mrope_section": [4, 6, 6]},
    }
    vision = {"depth": 2, "hidden_size": 64, "intermediate_size": 128, "num_heads": 4, "out_hidden_size": 256}
    tokens = dict(
        zip(
            ("vision_start_token_id", "vision_end_token_id", "image_token_id", "video_token_id"),
            range(6, 10),
            strict=True,
        )
    )
    made = _config(
        "Qwen2_5_VLConfig", "Qwen2_5_VLForConditionalGeneration", text_config=text, vision_config=vision, **tokens
    )
    picture = {
        "do_convert_rgb": True,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "image_processor_type": "Qwen2VLImageProcessor",
        "max_pixels": 200704,
        "merge_size": 2,
        "min_pixels": 3136,
        "patch_size": 14,
        "processor_class": "Qwen2_5_VLProcessor",
        "temporal_patch_size": 2,
    }
    return {"config.json": made, "preprocessor_config.json": picture, "generation_config.json": _GENERATION}


_DEEPSEEK: dict[str, Any] = {
    "num_key_value_heads": 8,
    "q_lora_rank": 64,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "n_group": 2,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "moe_intermediate_size": 64,
}


def _deepseek_v2() -> Files:
    """Latent attention (MLA) and experts."""
    return {"config.json": _causal("DeepseekV2Config", "DeepseekV2ForCausalLM", **_DEEPSEEK)}


def _deepseek_v3() -> Files:
    """Latent attention, experts and a layer that predicts a further token (MTP)."""
    made = _causal("DeepseekV3Config", "DeepseekV3ForCausalLM", **_DEEPSEEK, num_nextn_predict_layers=1)
    return {"config.json": made, "generation_config.json": _GENERATION}


def _deepseek_v32() -> Files:
    """Latent attention over the tokens that an indexer chooses (DSA)."""
    index = {"index_head_dim": 128, "index_n_heads": 8, "index_topk": 512}
    made = _causal("DeepseekV3Config", "DeepseekV32ForCausalLM", **_DEEPSEEK, **index).to_dict()
    return {"config.json": {**made, "model_type": "deepseek_v32"}}


def _qwen3_next() -> Files:
    """Linear attention in three layers of four."""
    linear = {
        "linear_key_head_dim": 32,
        "linear_value_head_dim": 32,
        "linear_num_key_heads": 4,
        "linear_num_value_heads": 8,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
        "shared_expert_intermediate_size": 64,
        "head_dim": 32,
    }
    return {"config.json": _causal("Qwen3NextConfig", "Qwen3NextForCausalLM", **linear)}


def _bamba() -> Files:
    """Mamba 2 layers and one of attention."""
    mamba = {
        "mamba_n_heads": 16,
        "mamba_d_head": 32,
        "mamba_n_groups": 1,
        "mamba_d_state": 32,
        "mamba_d_conv": 4,
        "mamba_expand": 2,
        "attn_layer_indices": [2],
    }
    return {"config.json": _causal("BambaConfig", "BambaForCausalLM", **mamba)}


def _qwen3_fp8() -> Files:
    return {"config.json": _causal("Qwen3Config", "Qwen3ForCausalLM", head_dim=32, quantization_config=_FP8)}


def _llama_gptq() -> Files:
    return {"config.json": _causal("LlamaConfig", "LlamaForCausalLM", quantization_config=_GPTQ, dtype="float16")}


def _gpt_oss() -> Files:
    """Sliding window, attention sinks, experts in MXFP4."""
    return {
        "config.json": _causal(
            "GptOssConfig",
            "GptOssForCausalLM",
            head_dim=64,
            num_local_experts=8,
            num_experts_per_tok=2,
            sliding_window=128,
            quantization_config={"quant_method": "mxfp4"},
        )
    }


def _llama_eagle3() -> Files:
    """A draft model for tiny-llama."""
    made = _causal("LlamaConfig", "LlamaForCausalLMEagle3", vocab_size=4096, num_hidden_layers=1)
    return {"config.json": {**made.to_dict(), "draft_vocab_size": 1024}}


def _pooling(width: int) -> Files:
    return {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": width, "pooling_mode_lasttoken": True},
    }


def _qwen3_embedding() -> Files:
    """A decoder whose modules.json says that it embeds."""
    return {"config.json": _causal("Qwen3Config", "Qwen3ForCausalLM", head_dim=32), **_pooling(256)}


def _bert() -> Files:
    """An encoder: no KV cache, absolute positions."""
    made = _config(
        "BertConfig",
        "BertModel",
        vocab_size=_VOCABULARY,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=512,
        dtype="float32",
    )
    return {
        "config.json": made,
        **_pooling(128),
        "1_Pooling/config.json": {"word_embedding_dimension": 128, "pooling_mode_cls_token": True},
        "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": True},
    }


def _qwen3_classifier() -> Files:
    """A decoder that classifies."""
    made = _causal("Qwen3Config", "Qwen3ForSequenceClassification", head_dim=32, num_labels=3)
    return {"config.json": made}


def _whisper() -> Files:
    """Encoder and decoder, speech."""
    made = _config(
        "WhisperConfig",
        "WhisperForConditionalGeneration",
        vocab_size=_VOCABULARY,
        d_model=64,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=128,
        decoder_ffn_dim=128,
        max_target_positions=448,
        decoder_start_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        pad_token_id=3,
        dtype="float16",
    )
    speech = {
        "chunk_length": 30,
        "feature_extractor_type": "WhisperFeatureExtractor",
        "feature_size": 80,
        "hop_length": 160,
        "n_fft": 400,
        "n_samples": 480000,
        "nb_max_frames": 3000,
        "padding_side": "right",
        "processor_class": "WhisperProcessor",
        "sampling_rate": 16000,
    }
    return {"config.json": made, "preprocessor_config.json": speech}


MODELS: dict[str, Callable[[], Files]] = {
    "tiny-llama": _llama,
    "tiny-qwen3": _qwen3,
    "tiny-qwen3-moe": _qwen3_moe,
    "tiny-gemma3": _gemma3,
    "tiny-qwen2.5-vl": _qwen2_5_vl,
    "tiny-deepseek-v2": _deepseek_v2,
    "tiny-deepseek-v3": _deepseek_v3,
    "tiny-deepseek-v3.2": _deepseek_v32,
    "tiny-qwen3-next": _qwen3_next,
    "tiny-bamba": _bamba,
    "tiny-qwen3-fp8": _qwen3_fp8,
    "tiny-llama-gptq": _llama_gptq,
    "tiny-gpt-oss": _gpt_oss,
    "tiny-llama-eagle3": _llama_eagle3,
    "tiny-qwen3-embedding": _qwen3_embedding,
    "tiny-qwen3-classifier": _qwen3_classifier,
    "tiny-bert": _bert,
    "tiny-whisper": _whisper,
}
"""Every tiny model: name -> what makes it."""
_NEVER_THINKS = ("tiny-llama", "tiny-qwen3")  # as when the first answers were recorded


def tokenizer(special: list[str]) -> transformers.PreTrainedTokenizerFast:
    """One token a byte, no merges; the special ones come first, so their ids are their places."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(special + alphabet)}
    bpe = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens(special)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<|endoftext|>",
        eos_token="<|im_end|>",
        pad_token="<pad>",
        model_max_length=2048,
    )


def write(folder: Path, name: str) -> Path:
    """Write the model ``name`` into ``folder`` and say where it is."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    files = MODELS[name]()
    special = _SPECIAL + (_THINKING if name not in _NEVER_THINKS else []) + (_VISION if "vl" in name else [])
    tokenizer(special).save_pretrained(place)
    for file, value in files.items():
        (place / file).parent.mkdir(exist_ok=True)
        if hasattr(value, "save_pretrained"):
            value.save_pretrained(place)
        else:
            (place / file).write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return place


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    for name in sys.argv[2:] or MODELS:
        place = write(Path(sys.argv[1]), name)
        print(place, sum(file.stat().st_size for file in place.rglob("*") if file.is_file()))


if __name__ == "__main__":
    main()
