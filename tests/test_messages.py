"""What is kept of dbt's messages: the same in Jinja and in Python, and no value of a variable."""

import re

import jinja2
import pytest
from conftest import ROOT
from dbt_provenance.capture.messages import kept_message

SECRET = "value of --vars"
MESSAGES = [
    ("success", "OK", "OK"),
    ("success", "SELECT 5", "SELECT 5"),
    ("pass", "Pass", "Pass"),
    ("fail", f"Got 3 results, configured to fail if > {SECRET}", "Got 3 results"),
    ("fail", f"\nactual differs from expected:\n\n@@ ,a\n{SECRET}", "actual differs from expected:"),
    ("skipped", "Skipped due to upstream failure", "Skipped due to upstream failure"),
    ("error", f"Runtime Error in model m (models/m.sql)\n  Binder Error: column \"{SECRET}\" not found", "Runtime Error: Binder Error"),
    ("error", f"Database Error in model m (models/m.sql)\n  {SECRET * 5} Error: x", "Database Error"),
    ("error", f"Compilation Error in model m (models/m.sql)\n  Required var 'x' not found in config:\n  Vars supplied to p = {{{SECRET}}}", "Compilation Error"),
    ("error", f"Failed to render SQL invalid operation: Compilation Error for model.p.m from models/m.sql: {SECRET}\n(in models/m.sql:1:2)", "Compilation Error"),
    ("runtime error", f"Catalog Error: {SECRET}", "Catalog Error"),
    ("error", f"{SECRET}", "Error"),
    ("error", f"{SECRET} in {SECRET} Error", "Error"),
]


class _Returned(Exception):
    pass


def in_jinja(status: str, message: str) -> str:
    source = (ROOT / "macros/capture/insert_results.sql").read_text()
    macro = re.search(r"{% macro kept_message\(.*?{%- endmacro %}", source, re.DOTALL).group()

    def give(value: str) -> None:
        raise _Returned(value)

    template = jinja2.Environment(extensions=["jinja2.ext.do"]).from_string(macro, globals={"return": give})
    with pytest.raises(_Returned) as returned:
        template.make_module().kept_message(status, message)
    return returned.value.args[0]


@pytest.mark.parametrize(("status", "message", "kept"), MESSAGES)
def test_a_message_is_kept_without_what_may_repeat_a_value(status, message, kept):
    assert kept_message(status, message) == in_jinja(status, message) == kept


def test_no_message_is_none():
    assert kept_message("success", None) is None and kept_message("error", "") is None
