"""The declared rules are the built-in ones, and a rule that can not be used is one line that says where."""

import dataclasses
from pathlib import Path

import pytest

from crucible_nb.rules import RULES_VERSION, Rules, RulesError

SETTINGS = Path(__file__).parent.parent / "settings.ini"


def ini(folder: Path, text: str | bytes) -> Path:
    """A settings file."""
    path = folder / "settings.ini"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path) -> str:
    """What `from_ini` says against a file: one line that names the file."""
    with pytest.raises(RulesError) as problem:
        Rules.from_ini(path)
    message = str(problem.value)
    assert "\n" not in message
    assert message.startswith(str(path)) or str(path) in message
    return message


def test_declared_rules_are_the_built_in_ones():
    assert Rules.from_ini(SETTINGS) == Rules()
    assert Rules.from_ini(str(SETTINGS)) == Rules()


def test_every_rule_is_declared():
    declared = {line.partition("=")[0].strip() for line in SETTINGS.read_text().splitlines() if "=" in line}
    assert declared >= {field.name for field in dataclasses.fields(Rules)}
    assert f"version = {RULES_VERSION}" in SETTINGS.read_text()


def test_first_comment_says_who_reads_the_file():
    first = SETTINGS.read_text().partition("\n\n")[0]
    assert "nbdev" in first and "pyproject.toml" in first


def test_signature_is_that_of_the_contract():
    assert Rules().signature("fix") == f"fix|w:0.6+0.4|sim:indel|lines:ordered|eol:fold|r:{RULES_VERSION}"


def test_rules_are_never_found_by_themselves(tmp_path, monkeypatch):
    ini(tmp_path, "[fix]\nstructural_weight = 1\ntextual_weight = 0\n")
    monkeypatch.chdir(tmp_path)
    assert Rules() == Rules.from_ini(SETTINGS)


def test_what_a_file_leaves_out_keeps_its_default(tmp_path):
    assert Rules.from_ini(ini(tmp_path, "")) == Rules()
    partial = Rules.from_ini(ini(tmp_path, "[fix]\nsize_limit = 1e6\n"))
    assert partial == Rules(size_limit=1e6)
    assert partial.signature("fix") == f"fix|w:0.6+0.4|sim:indel|lines:ordered|eol:fold|limit:1e+06|r:{RULES_VERSION}"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[fix]\nweight = 0.6\n", "[fix] weight"),
        ("[fix]\nstructural_weigth = 0.6\n", "[fix] structural_weigth"),
        ("[rules]\nstructural_weight = 0.6\n", "[rules] structural_weight"),
        ("[fixes]\nstructural_weight = 0.6\n", "[fixes] structural_weight"),
        ("[fix]\nversion = 1\n", "[fix] version"),
        ("[DEFAULT]\nweight = 0.6\n", "weight"),
        ("[DEFAULT]\nweight = 0.6\n[fix]\nstructural_weight = 0.6\n", "weight"),
    ],
)
def test_unknown_key_is_an_error_with_its_place(tmp_path, text, place):
    message = refusal(ini(tmp_path, text))
    assert place in message
    assert "expected one of" in message
    assert "[fix] structural_weight" in message


@pytest.mark.parametrize("value", ["lots", "", "0,6", "0.6 ; comment", "6e", "0x1"])
@pytest.mark.parametrize("key", ["structural_weight", "textual_weight", "size_limit"])
def test_bad_number_is_an_error_with_its_place(tmp_path, key, value):
    message = refusal(ini(tmp_path, f"[fix]\n{key} = {value}\n"))
    assert f"[fix] {key}" in message
    assert repr(value) in message


@pytest.mark.parametrize(
    ("lines", "name", "found"),
    [
        (["structural_weight = 1.2", "textual_weight = -0.2"], "structural_weight", "1.2"),
        (["structural_weight = -0.2", "textual_weight = 1.2"], "structural_weight", "-0.2"),
        (["structural_weight = nan"], "structural_weight", "nan"),
        (["textual_weight = inf"], "textual_weight", "inf"),
        (["structural_weight = 0.5"], "structural_weight + textual_weight", "0.9"),
        (["size_limit = 0"], "size_limit", "0.0"),
        (["size_limit = nan"], "size_limit", "nan"),
        (["similarity = difflib"], "similarity", "'difflib'"),
        (["lines = sorted"], "lines", "'sorted'"),
        (["eol = keep"], "eol", "'keep'"),
    ],
)
def test_value_that_can_not_be_used_is_an_error_with_its_name(tmp_path, lines, name, found):
    message = refusal(ini(tmp_path, "\n".join(["[fix]", *lines])))
    assert f"{name}: expected" in message
    assert f"found {found}" in message


@pytest.mark.parametrize("version", ["0", str(RULES_VERSION + 1), "one", "1.0", ""])
def test_other_rules_version_is_an_error(tmp_path, version):
    message = refusal(ini(tmp_path, f"[rules]\nversion = {version}\n"))
    assert "[rules] version" in message
    assert repr(version) in message


@pytest.mark.parametrize(
    "text",
    [
        "structural_weight = 0.6\n",
        "[fix]\nno value\n",
        "[fix]\nlines = ordered\nlines = ordered\n",
        "[fix]\n[fix]\n",
        b"[fix]\nlines = \xff\n",
    ],
)
def test_file_that_is_no_settings_file_is_one_line(tmp_path, text):
    refusal(ini(tmp_path, text))


def test_missing_file_and_folder_are_one_line(tmp_path):
    assert "No such file" in refusal(tmp_path / "no.ini")
    refusal(tmp_path)


def test_rules_in_python_are_checked_too():
    with pytest.raises(RulesError, match="sum of 1"):
        Rules(structural_weight=0.7)
    with pytest.raises(RulesError, match="expected one of indel"):
        Rules(similarity="difflib")
    with pytest.raises(RulesError, match="system"):
        Rules().signature("fixes")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().structural_weight = 1.0


def test_weights_that_sum_to_1_but_for_floating_point_are_fine():
    for thousandths in range(1001):
        weight = thousandths / 1000
        Rules(structural_weight=weight, textual_weight=1 - weight)


def test_different_rules_never_share_a_signature():
    variants = [
        Rules(),
        Rules(structural_weight=1.0, textual_weight=0.0),
        Rules(structural_weight=0.0, textual_weight=1.0),
        Rules(structural_weight=1 / 3, textual_weight=2 / 3),
        Rules(structural_weight=0.333333, textual_weight=0.666667),
        Rules(size_limit=1e10),
        Rules(size_limit=1e11 + 1),
    ]
    signatures = {rules.signature("fix") for rules in variants}
    assert len(signatures) == len(variants)
    assert not any(character.isspace() for signature in signatures for character in signature)


def test_an_alias_means_one_word():
    with pytest.raises(RulesError, match="aliases: expected each word once"):
        Rules(aliases="blocker=critical, blocker=nit")
