"""A target is found where dbt would find it, and what is missing is said in one sentence."""

from pathlib import Path

import pytest
from dbt_provenance.errors import ProfileError
from dbt_provenance.warehouse.profiles import Target, read_target

PROJECT = "name: shop\nprofile: shop\n"
PROFILES = """
shop:
  target: dev
  outputs:
    dev: {type: duckdb, path: dev.duckdb, schema: analytics}
    prod: {type: duckdb, path: "{{ env_var('SHOP_FILE') }}"}
    warehouse: {type: postgres, host: "{{ env_var('SHOP_HOST') }}"}
    memory: {type: duckdb}
    cloud: {type: duckdb, path: "md:shop?motherduck_token=secret"}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "dbt_project.yml").write_text(PROJECT)
    (folder / "profiles.yml").write_text(PROFILES)
    return folder


def read(here: Path, environ: dict[str, str] | None = None, **options: object) -> Target:
    return read_target(environ={"HOME": str(here / "home")} | (environ or {}), here=here, **options)  # type: ignore[arg-type]


def test_the_default_target_is_the_one_that_the_profile_names(project: Path) -> None:
    target = read(project)
    assert (target.project_name, target.target_name, target.schema) == ("shop", "dev", "analytics")
    assert target.database_file == project / "dev.duckdb"
    assert target.artifacts_folder == project / "target"


def test_the_project_is_found_from_a_folder_inside_it(project: Path) -> None:
    inside = project / "models" / "marts"
    inside.mkdir(parents=True)
    assert read(inside).project_folder == project


@pytest.mark.parametrize(
    ("environ", "options", "expected"),
    [
        ({"SHOP_FILE": "/data/prod.duckdb"}, {"target": "prod"}, "prod"),
        ({"SHOP_FILE": "/data/prod.duckdb", "DBT_TARGET": "prod"}, {}, "prod"),
        ({"DBT_TARGET": "prod"}, {"target": "dev"}, "dev"),
    ],
)
def test_the_target_is_the_option_then_the_environment_then_the_profile(project, environ, options, expected) -> None:
    assert read(project, environ, **options).target_name == expected


@pytest.mark.parametrize(
    ("text", "environ", "expected"),
    [
        ("{{ env_var('SHOP_FILE') }}", {"SHOP_FILE": "a.duckdb"}, "a.duckdb"),
        ('{{env_var("SHOP_FILE","b.duckdb")}}', {}, "b.duckdb"),
        ("{{ env_var('SHOP_FOLDER', '/data') }}/shop.duckdb", {}, "/data/shop.duckdb"),
        ("{{ env_var('SHOP_FILE') | lower }}.duckdb", {"SHOP_FILE": "SHOP"}, "shop.duckdb"),
        ("{{ env_var('SHOP_NUMBER') | int + 1 }}.duckdb", {"SHOP_NUMBER": "1"}, "2.duckdb"),
        ("{% if env_var('CI', '') %}ci{% else %}dev{% endif %}.duckdb", {"CI": "1"}, "ci.duckdb"),
        ("{{ env_var('SHOP_FILE') | as_text }}", {"SHOP_FILE": "{{ 1 + 1 }}.duckdb"}, "{{ 1 + 1 }}.duckdb"),
        ("{{ env_var('SHOP_FILE') }}", {"SHOP_FILE": "{{ 1 + 1 }}.duckdb"}, "{{ 1 + 1 }}.duckdb"),
    ],
)
def test_text_is_rendered_once(project: Path, text: str, environ: dict[str, str], expected: str) -> None:
    (project / "profiles.yml").write_text(f"shop: {{target: dev, outputs: {{dev: {{type: duckdb, path: {text!r}}}}}}}")
    assert read(project, environ).database == expected


def test_profiles_are_looked_for_here_then_in_the_project_then_at_home(project: Path, tmp_path: Path) -> None:
    here, home = tmp_path / "here", tmp_path / "here" / "home" / ".dbt"
    home.mkdir(parents=True)
    for folder in (home, project, here):
        (folder / "profiles.yml").write_text(PROFILES)
    found = []
    for folder in (here, project, home):
        found.append(read(here, project_dir=project).profiles_folder)
        (folder / "profiles.yml").unlink()
    assert found == [here, project, home]


def test_named_folders_win_over_the_environment(project: Path, tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (project / "profiles.yml").rename(tmp_path / "profiles" / "profiles.yml")
    environ = {"DBT_PROJECT_DIR": str(project), "DBT_PROFILES_DIR": str(tmp_path / "profiles")}
    assert read(tmp_path, environ).profiles_folder == tmp_path / "profiles"
    with pytest.raises(ProfileError, match=r"no profiles\.yml \(looked in .*elsewhere"):
        read(tmp_path, environ, profiles_dir=Path("elsewhere"))


def test_a_relative_file_starts_here_and_at_the_project_when_none_is_here(project: Path, tmp_path: Path) -> None:
    (project / "dev.duckdb").touch()
    assert read(tmp_path, project_dir=project).database_file == project / "dev.duckdb"
    (tmp_path / "dev.duckdb").touch()
    assert read(tmp_path, project_dir=project).database_file == tmp_path / "dev.duckdb"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", ("models", "seeds", "snapshots", "analyses", "macros", "tests", "functions")),
        ("model-paths: [marts/]\nmacro-paths: []", ("marts", "seeds", "snapshots", "analyses", "tests", "functions")),
        ('docs-paths: [\'{{ env_var("WHERE", "wiki") }}\']', ("wiki",)),
        ("docs-paths: []", ()),
    ],
)
def test_docs_paths_are_all_source_paths_unless_they_are_named(project: Path, lines: str, expected: tuple[str, ...]) -> None:
    (project / "dbt_project.yml").write_text(PROJECT + lines)
    assert read(project).docs_paths == expected


def test_the_target_path_is_the_environments_then_the_projects(project: Path) -> None:
    (project / "dbt_project.yml").write_text(PROJECT + "target-path: build\n")
    assert read(project).artifacts_folder == project / "build"
    assert read(project, {"DBT_TARGET_PATH": "/elsewhere"}).artifacts_folder == Path("/elsewhere")


@pytest.mark.parametrize(
    ("file", "text", "options", "said"),
    [
        ("dbt_project.yml", None, {}, r"no dbt_project\.yml in .* or above it\. Name the project with --project-dir"),
        ("dbt_project.yml", "name: shop", {}, "names no profile"),
        ("dbt_project.yml", "name: [", {}, "cannot be read"),
        ("dbt_project.yml", "- a list", {}, "holds no mapping"),
        ("dbt_project.yml", "name: shop\nprofile: other", {}, "no profile 'other' .there: shop."),
        ("profiles.yml", None, {}, r"no profiles\.yml .*--profiles-dir"),
        ("profiles.yml", "shop: {target: dev}", {}, "no target 'dev' .there: none."),
        ("profiles.yml", PROFILES, {"target": "nowhere"}, "no target 'nowhere' .there: dev, prod, warehouse, memory, cloud."),
        ("profiles.yml", PROFILES, {"target": "prod"}, "environment variable SHOP_FILE is not set"),
        ("profiles.yml", "shop: {outputs: {default: {type: duckdb, path: '{{ nothing.at.all }}'}}}", {}, "cannot be rendered"),
        ("profiles.yml", "shop: {outputs: {default: {type: duckdb, path: '{{ broken'}}}", {}, "cannot be rendered"),
    ],
)
def test_what_is_missing_is_said_in_one_sentence_with_the_way_out(project, file, text, options, said) -> None:
    if text is None:
        (project / file).unlink()
    else:
        (project / file).write_text(text)
    with pytest.raises(ProfileError, match=said) as raised:
        read(project, **options)
    assert "\n" not in raised.value.message and raised.value.exit_code == 4


@pytest.mark.parametrize(
    ("target", "said"), [("warehouse", "of type 'postgres'"), ("memory", ":memory:"), ("cloud", "'md:shop'")]
)
def test_a_target_without_a_file_is_said(project: Path, target: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        _ = read(project, {"SHOP_HOST": "db"}, target=target).database_file
