"""The files in data/ are as many, and as sound, as data/README.md says."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"
README = (DATA / "README.md").read_text(encoding="utf-8")
SCENARIOS = sorted(path.name for path in (DATA / "scenarios").iterdir())


def table(first_column):
    """Rows of the table of data/README.md whose header begins with `first_column`, as lists of cells."""
    block = re.search(rf"^\| {re.escape(first_column)} \|.*\n\|[-:|]+\n((?:\|.*\n)+)", README, re.M)
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in block[1].splitlines()]


def load(pattern):
    """Parsed JSON files of data/ that match `pattern`, by path."""
    return {path: json.loads(path.read_bytes()) for path in sorted(DATA.glob(pattern))}


def jsonl(pattern):
    """Lines of the .jsonl files of data/ that match `pattern`."""
    return [json.loads(row) for path in sorted(DATA.glob(pattern)) for row in path.read_bytes().splitlines()]


def folders(pattern):
    """How many folders of data/ match `pattern`."""
    return sum(path.is_dir() for path in DATA.glob(pattern))


def git(*args, cwd):
    """What git prints for `args`."""
    return subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True).stdout


def commits_in_bundle(tmp_path):
    """How many commits the history of the bench holds."""
    git("clone", "--quiet", "--bare", str(DATA / "bench" / "history.bundle"), "history", cwd=tmp_path)
    return int(git("rev-list", "--count", "--all", cwd=tmp_path / "history"))


def counts(tmp_path):
    """Every count of the first table of data/README.md, from the files."""
    runs = load("archive/*/*/run.json").values()
    oracle = list(csv.DictReader((DATA / "archive_similar_oracle.csv").read_text().splitlines()))
    keys = load("bench/key/*.json").values()
    musts = [must for key in keys for must in key["musts"]]
    findings = [finding for file in load("bench/arms/*/*.json").values() for finding in file["findings"]]
    verdicts = load("bench/verdicts/*/*/*.json").values()
    decided = {}
    for file in verdicts:
        for verdict in file["verdicts"]:
            where = file["arm"], file["cell"], verdict["finding"]
            decided.setdefault(where, []).append(verdict["decision"])
    diffs = [path.read_bytes() for path in DATA.glob("archive/*/*/final.diff")]
    assert len(diffs) == len(runs)
    return {
        "scenarios": folders("scenarios/*"),
        "agent profiles": len({run["profile"] for run in runs}),
        "agent runs": len(runs),
        "distinct diffs": len(set(diffs)),
        "runs that pass the visible tests": sum(run["test_passed"] for run in runs),
        "runs that pass the hidden tests too": sum(run["hidden_passed"] for run in runs),
        "judges": len(list(DATA.glob("judge/*.jsonl"))),
        "judgements": len(jsonl("judge/*.jsonl")),
        "claims labelled by hand": len(list(csv.DictReader((DATA / "judge/claims.csv").read_text().splitlines()))),
        "equivalent pairs": (DATA / "pairs" / "equivalents.toml").read_text().count("\n[[pair]]\n") + 1,
        "near-misses": (DATA / "pairs" / "near_misses.toml").read_text().count("\n[[pair]]\n") + 1,
        "oracle pairs": len(oracle),
        "runs with an oracle pair": len({row["run_id"] for row in oracle}),
        "cells": folders("bench/cells/*"),
        "commits in the history": commits_in_bundle(tmp_path),
        "musts": len(musts),
        "opus-critical musts": sum(must["weight"] == 3 for must in musts),
        "should musts": sum(must["weight"] == 2 for must in musts),
        "nice musts": sum(must["weight"] == 1 for must in musts),
        "anti-hits": sum(len(key["anti_hits"]) for key in keys),
        "proofs": len([must for must in musts if (DATA / f"bench/key/proofs/{must['id']}.py").is_file()]),
        "arms": folders("bench/arms/*"),
        "findings files": len(load("bench/arms/*/*.json")),
        "findings": len(findings),
        "citations": sum(len(finding.get("cites", [])) for finding in findings),
        "findings without a citation": sum(not finding.get("cites") for finding in findings),
        "overseers": folders("bench/verdicts/*"),
        "verdict files": len(verdicts),
        "verdicts": sum(len(file["verdicts"]) for file in verdicts),
        "findings that the overseers decide differently": sum(len(set(d)) > 1 for d in decided.values()),
    }


def clean_environment():
    """This process's environment without what would reach into another pytest."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return env | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def outcomes(repo):
    """Counts of the tests in `repo`: visible, of these failing, hidden, of these failing."""
    options = ["-rA", "--tb=no", "-p", "no:cacheprovider", "tests", "hidden_tests"]
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=repo, env=clean_environment(), capture_output=True, text=True)
    rows = re.findall(r"^(PASSED|FAILED|ERROR) (tests|hidden_tests)/", done.stdout, re.M)
    assert rows and not [row for row in rows if row[0] == "ERROR"], done.stdout
    visible = [word for word, folder in rows if folder == "tests"]
    hidden = [word for word, folder in rows if folder == "hidden_tests"]
    return len(visible), visible.count("FAILED"), len(hidden), hidden.count("FAILED")


def test_counts_are_those_of_the_readme(tmp_path):
    assert counts(tmp_path) == {what: int(count) for what, count, _ in table("What")}


def test_profiles_and_arms_are_those_of_the_readme():
    assert {row[0] for row in table("Profile")} == {path.name for path in DATA.glob("archive/*/*")}
    said = {arm: int(count) for arm, count, _ in table("Arm")}
    found = {}
    for file in load("bench/arms/*/*.json").values():
        found[file["arm"]] = found.get(file["arm"], 0) + len(file["findings"])
    assert found == said


def test_every_scenario_was_run_under_every_profile():
    runs = {path.parent: run for path, run in load("archive/*/*/run.json").items()}
    for folder, run in runs.items():
        assert (run["scenario"], run["profile"]) == (folder.parent.name, folder.name)
        assert run["run_id"] == f"{run['scenario']}/{run['profile']}"
        assert 0 <= run["agent_confidence"] <= 1
        visible, hidden = run["visible_tests"], run["hidden_tests"]
        assert run["test_passed"] == (visible["failed"] == visible["errors"] == 0)
        assert run["hidden_passed"] == (run["test_passed"] and hidden["failed"] == hidden["errors"] == 0)
    profiles = {run["profile"] for run in runs.values()}
    assert {run["run_id"] for run in runs.values()} == {f"{s}/{p}" for s in SCENARIOS for p in profiles}


def test_every_judge_judged_every_run_once():
    runs = sorted(run["run_id"] for run in load("archive/*/*/run.json").values())
    for path in DATA.glob("judge/*.jsonl"):
        rows = jsonl(f"judge/{path.name}")
        assert sorted(row["run_id"] for row in rows) == runs
        assert {row["judge"] for row in rows} == {path.stem}
        assert {row["condition"] for row in rows} == {path.stem.rpartition("-")[0]}
        scores = [row[name] for row in rows for name in ("correctness", "minimality", "quality")]
        assert all(type(score) is int and 0 <= score <= 10 for score in scores)


def test_every_finding_has_one_verdict_of_each_overseer():
    findings = {
        (file["arm"], file["cell"]): [finding["id"] for finding in file["findings"]]
        for file in load("bench/arms/*/*.json").values()
    }
    for path in DATA.glob("bench/verdicts/*"):
        verdicts = {
            (file["arm"], file["cell"]): [verdict["finding"] for verdict in file["verdicts"]]
            for file in load(f"bench/verdicts/{path.name}/*/*.json").values()
        }
        assert verdicts == findings


@pytest.mark.parametrize("name", SCENARIOS)
def test_reference_fix_turns_all_tests_green(name, tmp_path):
    said = {row[0]: [int(cell) for cell in row[1:]] for row in table("Scenario")}
    assert sorted(said) == SCENARIOS
    files, visible, visible_failing, hidden, hidden_failing = said[name]
    scenario = DATA / "scenarios" / name
    repo = tmp_path / "repo"
    shutil.copytree(scenario / "repo", repo)
    shutil.copytree(scenario / "hidden_tests", repo / "hidden_tests")
    assert outcomes(repo) == (visible, visible_failing, hidden, hidden_failing)

    text = (scenario / "REFERENCE_FIX.md").read_text(encoding="utf-8")
    (fix,) = re.findall(r"^```diff\n(.*?)^```$", text, re.S | re.M)
    (tmp_path / "fix.diff").write_text(fix, encoding="utf-8", newline="")
    touched = [row.split("\t")[2] for row in git("apply", "--numstat", "../fix.diff", cwd=repo).splitlines()]
    assert touched == json.loads((scenario / "scenario.json").read_text())["reference_files"]
    assert len(touched) == files
    git("apply", "../fix.diff", cwd=repo)
    assert outcomes(repo) == (visible, 0, hidden, 0)


def test_bench_is_sound(tmp_path):
    shutil.copytree(DATA / "bench", tmp_path / "bench", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "key/check_bench.py"]
    bench, env = tmp_path / "bench", clean_environment()
    done = subprocess.run(command, cwd=bench, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_git_would_track_every_file():
    if not (DATA.parent / ".git").exists():
        pytest.skip("not a git checkout")
    rows = git("status", "--porcelain", "--ignored", "--untracked-files=all", "data", cwd=DATA.parent)
    ignored = [row[3:] for row in rows.splitlines() if row.startswith("!!")]
    assert [path for path in ignored if "__pycache__" not in path and ".pytest_cache" not in path] == []
