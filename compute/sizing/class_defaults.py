"""What transformers' config class of a model type takes for a key that the file leaves out.

Files whose language model stands in an object of its own often leave out whatever equals the class default: Gemma-3-12B
gives no `head_dim`, and 256 is meant, not 3,840 / 16 = 240.  Only keys that a bill would otherwise fill in wrongly are
listed (transformers 5.24.0).  A null is no such gap: classes read it as "follows from the others".
"""


def _spread(by_value: dict[int, str]) -> dict[str, int]:
    return {model_type: value for value, types in by_value.items() for model_type in types.split()}


CLASS_DEFAULTS: dict[str, dict[str, int]] = {
    "num_key_value_heads": _spread(
        {
            2: "ernie4_5 gemma3n glm glm4 glm4v internlm3 paddleocr_vl qwen3_5_moe qwen3_next starcoder2",
            4: "ernie4_5_moe ernie4_5_vl_moe gemma2 gemma3 gemma4 granite_swa mellum mimo_v2_flash qwen2_5_omni qwen3_5"
            " qwen3_moe qwen3_omni_moe smollm3 vaultgemma",
            5: "bitnet",
            8: "bamba cwm exaone falcon_h1 glm4_moe glm4v_moe gpt_oss jamba laguna lfm2 lfm2_moe llama4 minimax"
            " minimax_m2 ministral ministral3 mistral mistral3 mixtral nemotron_h phi4_multimodal phimoe qwen2_5_vl"
            " qwen2_vl seed_oss solar_open",
            16: "gemma qwen2_moe qwen3_vl_moe",
            20: "helium",
            32: "dots1 exaone4 exaone_moe qwen2 qwen3 qwen3_vl stablelm",
        }
    ),
    "head_dim": _spread(
        {
            64: "gpt_oss",
            128: "afmoe cohere2_moe cwm ernie4_5 glm glm4 helium internlm3 laguna llama4 mellum minimax_m2 ministral3"
            " nemotron_h paddleocr_vl qwen3 qwen3_vl seed_oss solar_open",
            192: "mimo_v2_flash",
            256: "gemma gemma2 gemma3 gemma3n gemma4 qwen3_5 qwen3_5_moe qwen3_next vaultgemma",
        }
    ),
    "v_head_dim": {"mimo_v2_flash": 128},
    "sliding_window": {"mistral": 4096, "mistral3": 4096},
    "attention_window_size": {"recurrent_gemma": 2048},
    "num_kv_shared_layers": {"gemma3n": 15},
    "attn_layer_offset": {"jamba": 4},
}
