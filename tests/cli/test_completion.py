"""Completion in the shell, by the protocol that the printed scripts speak."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from dualfold.cli import app
from dualfold.methods.descriptions import DESCRIPTIONS


def completed(shell, *words, **more):
    """What a shell would be offered after these words, the last of which may be half."""
    line = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    line["_TYPER_COMPLETE_ARGS"] = " ".join(words)
    environment = line | {"_DUALFOLD_COMPLETE": f"complete_{shell}"} | more
    result = CliRunner().invoke(app, [], prog_name="dualfold", env=environment)
    return result.stdout.split("\n") if shell == "bash" else result.stdout


def test_commands_methods_and_words_complete():
    def offered(*words):
        return [word for word in completed("bash", "dualfold", *words) if word]

    assert {"embed", "compare", "certify", "methods"} <= set(offered(""))
    assert offered("tr") == ["transform"]
    assert offered("embed", "t.csv", "--method", "") == [*DESCRIPTIONS, "auto"]
    assert offered("embed", "t.csv", "-m", "is") == ["isomap"]
    assert offered("compare", "t.csv", "--methods", "pca,isomap,l") == [
        f"pca,isomap,{name}" for name in ("lle", "ltsa", "lpp")
    ]
    assert offered("embed", "t.csv", "--missing", "") == ["auto", "raise", "drop", "mean", "impute"]
    assert offered("embed", "t.csv", "--save") == ["--save-model"]
    assert offered("embed", "t.csv", "--format", "np") == ["npy", "npz"]
    assert offered("embed", "t.csv", "-m", "isomap", "--la") == [
        "--labels",
        "--landmark-rows",
        "--landmarks",
    ]
    assert offered("embed", "t.csv", "-m", "eigenmaps", "--la") == ["--labels", "--landmark-rows"]
    assert offered("embed", "t.csv", "-m", "isomap", "--pieces", "s") == ["separate"]
    assert offered("compare", "t.csv", "--methods", "pca,mvu", "--an") == ["--angles"]


def test_columns_of_the_file_complete(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("bill length;species;bill depth\n1;a;2\n")
    (tmp_path / "m.dualfold").write_bytes(b"PK\x03\x04\xff\x00")
    for words, expected in (
        (["embed", "t.csv", "--color", "s"], ["species"]),
        (["report", "t.csv", "m.csv", "--exclude", "bill"], ["bill length", "bill depth"]),
        (["transform", "m.dualfold", "t.csv", "--id", "sp"], ["species"]),
        (["embed", "none.csv", "--color", "s"], []),
    ):
        offered = [word for word in completed("bash", "dualfold", *words) if word]
        assert offered == expected


def test_files_complete_to_files():
    # bash and fish fall back to files where nothing is offered, zsh is told to
    assert not any(completed("bash", "dualfold", "embed", "ro"))
    assert completed("zsh", "dualfold embed ro").strip() == "_files"
    asked = {"_TYPER_COMPLETE_FISH_ACTION": "is-args"}
    environment = {"_DUALFOLD_COMPLETE": "complete_fish", **asked}
    for line, code in (("dualfold embed ro", 1), ("dualfold embed -m is", 0)):
        more = environment | {"_TYPER_COMPLETE_ARGS": line}
        assert CliRunner().invoke(app, [], prog_name="dualfold", env=more).exit_code == code


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_the_shell_is_printed(shell):
    environment = {"_DUALFOLD_COMPLETE": f"source_{shell}"}
    script = CliRunner().invoke(app, [], prog_name="dualfold", env=environment).stdout
    assert f"_DUALFOLD_COMPLETE=complete_{shell}" in script
    closing = {"bash": "-F _dualfold_completion dualfold", "zsh": "compdef _dualfold_completion"}
    assert closing.get(shell, "complete --command dualfold") in script
