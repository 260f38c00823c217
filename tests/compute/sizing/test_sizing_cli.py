"""`python -m compute.sizing`: the same bill on a terminal."""

import io
import json
import subprocess
import sys

from compute.sizing import bill, load_model, model_config
from compute.sizing.__main__ import main


def test_a_word_prints_the_bill(capsys):
    assert main(["minimax-01", "--tokens", "1048576"]) == 0
    out = capsys.readouterr().out
    for said in ("64 × 128 × 128 × 4 B", "280 MiB", "40 GiB", "320 GiB", "40,960 B", "7,168", "2^30"):
        assert said in out


def test_json_carries_the_same_integers(tmp_path, capsys):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(model_config("qwen3.8-27b")), encoding="utf-8")
    assert main([str(path), "--tokens", "262144", "--batch", "2", "--state-dtype", "bfloat16", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    made = bill(load_model("qwen3.8-27b"), 262_144, batch=2, state_dtype="bfloat16")
    for part in ("state_bytes", "conv_bytes", "fixed_bytes", "kv_bytes", "window_bytes", "total_bytes"):
        assert data[part] == getattr(made, part)
    assert data["layer_crossings"][0]["state_tokens"] == 384


def test_the_native_context_is_the_default(capsys):
    assert main(["gpt-2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"] == 1_024


def test_text_may_come_from_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(model_config("gpt-2"))))
    assert main(["-"]) == 0
    assert "36,864 B" in capsys.readouterr().out


def test_refusals_are_one_line_and_a_status(tmp_path, capsys):
    bad = tmp_path / "bad.json"
    bad.write_text('{"model_type": "brand_new", "num_hidden_layers": 2}', encoding="utf-8")
    for arguments in ([str(bad)], ["no-such-model"], ["gpt-2", "--batch", "0"], ["gpt-2", "--tokens", "-1"]):
        assert main(arguments) == 2
        captured = capsys.readouterr()
        assert captured.out == "" and captured.err.count("\n") == 1


def test_it_runs_as_a_module_without_torch():
    code = "import sys, compute.sizing.__main__ as m; m.main(['gpt-2']); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
