from datetime import date, timedelta
from itertools import pairwise

import pytest
from dbt_provenance.answer.dates import MONTHS, mentions, one_period, period_of
from hypothesis import given
from hypothesis import strategies as st


def said(text: str) -> list[str | None]:
    return [mention.period and str(mention.period) for mention in mentions(text)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2025-03-31", "2025-03-31"),
        ("2025-3-31", "2025-03-31"),
        ("2025/03/31", "2025-03-31"),
        ("2025.03.31", "2025-03-31"),
        ("2025-03-31T10:15:00Z", "2025-03-31"),
        ("31 March 2025", "2025-03-31"),
        ("31st of March 2025", "2025-03-31"),
        ("the 31st of March, 2025", "2025-03-31"),
        ("31-Mar-2025", "2025-03-31"),
        ("March 31, 2025", "2025-03-31"),
        ("March 31st 2025", "2025-03-31"),
        ("March the 31st, 2025", "2025-03-31"),
        ("Mar 31 2025", "2025-03-31"),
        ("MAR. 31, 2025", "2025-03-31"),
        ("2025 March 31", "2025-03-31"),
        ("1 sept 2024", "2024-09-01"),
        ("31.03.2025", "2025-03-31"),
        ("3.4.2025", "2025-04-03"),
        ("12.31.2025", "2025-12-31"),
        ("31/03/2025", "2025-03-31"),
        ("03/31/2025", "2025-03-31"),
        ("03/03/2025", "2025-03-03"),
        ("29 February 2024", "2024-02-29"),
        ("the end of March 2025", "2025-03-31"),
        ("beginning of Q2 2025", "2025-04-01"),
    ],
)
def test_a_day_is_read_in_the_usual_forms(text, day):
    assert said(f"What was net revenue on {text}?") == [day]
    assert str(period_of(text)) == day


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("March 2025", "2025-03-01/2025-03-31"),
        ("Mar. 2025", "2025-03-01/2025-03-31"),
        ("February of 2024", "2024-02-01/2024-02-29"),
        ("2025-03", "2025-03-01/2025-03-31"),
        ("03/2025", "2025-03-01/2025-03-31"),
        ("May 2025", "2025-05-01/2025-05-31"),
        ("Q1 2025", "2025-01-01/2025-03-31"),
        ("q4/2024", "2024-10-01/2024-12-31"),
        ("2025 Q1", "2025-01-01/2025-03-31"),
        ("2025Q1", "2025-01-01/2025-03-31"),
        ("2025-Q2", "2025-04-01/2025-06-30"),
        ("first quarter of 2025", "2025-01-01/2025-03-31"),
        ("3rd quarter 2024", "2024-07-01/2024-09-30"),
        ("the last quarter of 2024", "2024-10-01/2024-12-31"),
        ("quarter 2 of 2025", "2025-04-01/2025-06-30"),
        ("H1 2025", "2025-01-01/2025-06-30"),
        ("second half of 2024", "2024-07-01/2024-12-31"),
    ],
)
def test_a_period_has_both_its_days(text, period):
    assert said(f"How was net revenue defined in {text}, please?") == [period]
    assert str(period_of(text)) == period


@pytest.mark.parametrize(
    "text",
    [
        "2025-02-30",
        "31 April 2025",
        "February 29, 2025",
        "31.04.2025",
        "2025-13",
        "Q5 2025",
        "Q0 2025",
        "0000-01-01",
        "03/04/2025",
        "1/2/25",
        "January to March 2025",
        "Jan-Mar 2025",
        "1 to 31 March 2025",
        "March 1-31, 2025",
        "Q1 and Q2 2025",
        "Q1 FY25",
    ],
)
def test_what_is_no_one_existing_period_is_a_mention_without_one(text):
    assert said(f"net revenue on {text}?") == [None]
    assert one_period(mentions(text)) == (None, False)


@pytest.mark.parametrize(
    "text",
    [
        "today, yesterday, now, this quarter, last month",
        "in 2025",
        "the 2025 draft",
        "in March",
        "version 2024-02",
        "fct_orders_2025_03_31",
        "raw_2025-03",
        "dbt 1.11.16",
        "order 12345678",
        "may refunds be counted",
        "127.0.0.2025",
        "",
    ],
)
def test_what_names_no_date_is_no_mention(text):
    assert mentions(text) == []
    assert one_period(mentions(text)) == (None, True)


def test_two_dates_are_not_one_and_one_date_twice_is():
    assert one_period(mentions("from 2024-06-30 to 31 March 2025")) == (None, False)
    assert one_period(mentions("on 2025-03-31 (31 March 2025)"))[0] == period_of("2025-03-31")


def test_letters_of_other_scripts_may_touch_a_date():
    assert said("2025-03-31の純売上") == ["2025-03-31"]


@given(
    st.dates(min_value=date(1000, 1, 1)),
    st.sampled_from(["{0:%Y-%m-%d}", "{0.day} {1} {0:%Y}", "{1} {0.day}, {0:%Y}", "{0:%d.%m.%Y}", "{0:%Y/%m/%d}"]),
)
def test_any_day_survives_being_written(day, form):
    text = form.format(day, MONTHS[day.month - 1].title())
    assert [(mention.period.first, mention.period.last) for mention in mentions(f"as of {text}.")] == [(day, day)]


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(9999, 11, 30)))
def test_a_month_ends_the_day_before_the_next(day):
    period = period_of(f"{day:%Y-%m}")
    assert period.first == day.replace(day=1)
    assert (period.last + timedelta(days=1)).day == 1 and period.last.month == day.month


@given(st.text())
def test_any_text_is_read_without_a_fault(text):
    found = mentions(text)
    assert all(0 <= mention.start < mention.end <= len(text) for mention in found)
    assert all(first.end <= second.start for first, second in pairwise(found))
