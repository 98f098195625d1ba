"""Do the version, the changelog, the citation and the workflows of a release agree?"""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

import gpucoh

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture
def release(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("release")


@pytest.fixture
def tree(tmp_path):
    """A copy of what names the version."""
    for name in ("meson.build", "CHANGELOG.md", "CITATION.cff"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def edit(path, pattern, by):
    text, found = re.subn(
        pattern, by, path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE
    )
    assert found
    path.write_text(text, encoding="utf-8")


def test_the_tree_has_one_version(release):
    assert gpucoh.__version__ == release.version(ROOT)
    assert list(release.disagreements(ROOT)) == []
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["dynamic"] == [
            "version"
        ]  # meson-python's: meson.build


def test_no_page_for_users_repeats_the_version(release):
    for name in ("README.md", "docs/tutorial.md", "docs/citing.md", "SECURITY.md"):
        assert release.version(ROOT) not in (ROOT / name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize(
    ("name", "pattern", "by", "problem"),
    [
        ("meson.build", r"^  version: '.*',$", "  version: '9.9.9',", "CHANGELOG.md: the newest"),
        ("CHANGELOG.md", r"^## \[\d.*$", "## [9.9.9] - 2031-01-01", "CHANGELOG.md: the newest"),
        ("CITATION.cff", r"^version: .*$", "version: 9.9.9", "CITATION.cff: another"),
        ("CITATION.cff", r"^date-released: .*$", "date-released: 2031", "CITATION.cff: another"),
    ],
)
def test_another_version_or_date_is_found(release, tree, name, pattern, by, problem):
    edit(tree / name, pattern, by)
    assert any(line.startswith(problem) for line in release.disagreements(tree))


def test_entries_that_are_not_released_are_no_version(release, tree):
    edit(tree / "CHANGELOG.md", r"^## \[", "## [Unreleased]\n\n- An entry.\n\n## [")
    assert list(release.disagreements(tree)) == []


def test_a_tag_names_the_version(release, tree):
    ours = release.version(tree)
    assert list(release.disagreements(tree, f"v{ours}")) == []
    assert list(release.disagreements(tree, "v9")) == [f"tag v9 (meson.build: {ours}, so v{ours})"]


def test_the_citation_gets_version_and_date(release, tree):
    edit(tree / "meson.build", r"^  version: '.*',$", "  version: '9.9.9',")
    edit(tree / "CHANGELOG.md", r"^## \[\d.*$", "## [9.9.9] - 2031-01-01")
    text = release.citation(tree)
    assert '\nversion: 9.9.9\ndate-released: "2031-01-01"\n' in text


def test_the_notes_are_the_newest_section(release):
    version, _, notes = release.newest(ROOT)
    assert version == gpucoh.__version__
    assert notes
    assert "\n## " not in notes


def loaded(path):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_yaml_whose_jobs_can_run(path):
    jobs = loaded(path)["jobs"]
    assert jobs
    for name, job in jobs.items():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs), name
        assert job["runs-on"]
        assert all(("run" in step) != ("uses" in step) for step in job["steps"]), name


def test_only_a_tag_publishes_and_no_other_job_may_sign(release):
    flow = loaded(ROOT / ".github" / "workflows" / "wheels.yml")
    assert flow[True]["push"] == {"tags": ["v*"]}  # YAML 1.1 reads `on` as true
    assert flow["permissions"] == {"contents": "read"}
    signing = [name for name, job in flow["jobs"].items() if "permissions" in job]
    publish = flow["jobs"]["publish"]
    assert signing == ["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert set(publish["needs"]) == set(flow["jobs"]) - {"publish"}


def test_wheels_are_built_for_the_versions_that_are_declared():
    with (ROOT / "pyproject.toml").open("rb") as file:
        table = tomllib.load(file)
    declared = re.findall(r":: (3)\.(\d+)'", str(table["project"]["classifiers"]))
    assert table["tool"]["cibuildwheel"]["build"] == [f"cp{a}{b}-*" for a, b in declared]
    tested = table["tool"]["cibuildwheel"]["test-command"].split("{project}/")[1]
    assert (ROOT / tested).is_file()


def test_free_threading_is_declared_nowhere_before_it_is_tested():
    """docs/release.md says what a version that declares it has to show."""
    assert "Free Threading" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for path in (ROOT / "csrc" / "python").glob("*.c"):
        assert "Py_MOD_GIL_NOT_USED" not in path.read_text(encoding="utf-8"), path.name
