"""Functions of time: formulas and tables, their values and means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rigidgrains.model.formula import compile_formula, evaluate
from rigidgrains.model.time_functions import Formula, Table, gauss_mean, read_time_function


@pytest.mark.parametrize(
    ("text", "at", "value"),
    [
        ("0.01*sin(2*pi*5*t)", 0.05, 0.01),
        ("-t**2 + 3*t - 1", 2.0, 1.0),
        ("max(0, t - 1, min(2, t))", 5.0, 4.0),
        ("step(t - 1)*exp(0) + abs(-2)", 1.0, 3.0),
        ("sqrt(16)/2 + tanh(0) + floor(2.7)", 0.0, 4.0),
    ],
)
def test_formulas_are_evaluated(text, at, value):
    assert Formula(text).value(at) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0.1*sine(t)", "unknown function 'sine'"),
        ("x + 1", "unknown name 'x'; known are t, pi"),
        ("sin", "write sin(...)"),
        ("__import__('os').system('ls')", "unknown function"),
        ("t.real", "numbers, t, pi"),
        ("[1][0]", "numbers, t, pi"),
        ("'a'", "numbers, t, pi"),
        ("t if t else 1", "numbers, t, pi"),
        ("sin(t", "is no formula"),
        ("", "is no formula"),
        ("sin(1, 2)", "takes one number"),
        ("max(t)", "two numbers or more"),
        ("max(*t)", "two numbers or more"),
        ("max(1, 2, key=3)", "two numbers or more"),
        ("1" + "+1" * 600, "characters"),
        ("-" * 200 + "1", "within each other"),
        ("1" + "0" * 400, "too large"),
        ("1e999", "too large"),
    ],
)
def test_formulas_that_are_none(text, told):
    with pytest.raises(ValueError, match=r".") as error:
        compile_formula(text)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1/t", "1 / t divides by zero"),
        ("t**-1", "divides by zero"),
        ("log(t)", "log(t) is no real number"),
        ("sqrt(-1)", "sqrt(-1) is no real number"),
        ("(-1)**0.5", "(-1) ** 0.5 is no real number"),
        ("min(0, (t-1)**0.5)", "(t - 1) ** 0.5 is no real number"),
        ("abs((t-1)**0.5)", "(t - 1) ** 0.5 is no real number"),
        ("9**9**9**9", "too large"),
        ("floor(9)**floor(9)**floor(9)", "too large"),
        ("floor(9.5)**floor(9.5)**9**9", "too large"),
        ("exp(1e4)", "exp(10000.0): it is too large"),
        ("min(1, 1e200*1e200)", "1e+200 * 1e+200: it is too large"),
        ("1/(1e200*1e200)", "1e+200 * 1e+200: it is too large"),
        ("floor(1e308*10)", "too large"),
        ("tanh(1e300/1e-300)", "too large"),
    ],
)
def test_formulas_without_a_value(text, told):
    """What has none is named, with its time, also where the rest of the formula would hide it."""
    with pytest.raises(ValueError, match="has no value at t = 0 s") as error:
        evaluate(compile_formula(text), text, 0.0)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("floor(2.7)", 2.0), ("floor(-2.5)", -3.0), ("abs(-2)", 2.0), ("min(3, 2)", 2.0), ("max(1, 2, 3)", 3.0),
        ("step(0)", 1.0), ("+7", 7.0), ("-7", -7.0), ("2**10", 1024.0), ("2**-1", 0.5), ("(-2)**3", -8.0),
        ("0**0", 1.0), ("7", 7.0), ("t", 0.0), ("1/4", 0.25), ("9007199254740993", 9007199254740992.0),
    ],
)  # fmt: skip
def test_every_value_is_a_float(text, value):
    """Whole numbers grow without bound, floats do not; 2^53 + 1 is no float."""
    got = Formula(text).value(0)
    assert type(got) is float
    assert got == value


def test_a_table_is_linear_or_smooth_and_constant_beyond_its_ends():
    """Means are exact integrals; the smooth one passes its points and never overshoots."""
    times, values = (1.0, 2.0, 4.0), (0.0, 3.0, 3.0)
    straight, smooth = Table(times, values), Table(times, values, smooth=True)
    for table in (straight, smooth):
        assert [table.value(t) for t in (0.0, 1.0, 2.0, 4.0, 9.0)] == pytest.approx([0.0, 0.0, 3.0, 3.0, 3.0])
        assert table.mean(-3.0, 2.0) == 0.0
        assert table.mean(5.0, 2.0) == pytest.approx(3.0)
        pieces = sum(table.mean(0.1 * k, 0.1) for k in range(60))
        assert pieces == pytest.approx(60 * table.mean(0.0, 6.0), rel=1e-12)
    bent = Table((0.0, 1.0, 2.0, 3.0), (1.0, 5.0, -2.0, 4.0))
    assert bent.mean(-2.0, 1.0) == 1.0
    assert bent.mean(2.0, 2.0) == pytest.approx((1.0 + 4.0) / 2.0)
    assert bent.mean(7.0, 1.0) == 4.0
    assert straight.value(1.5) == 1.5
    assert straight.mean(0.0, 6.0) == pytest.approx((1.5 + 6.0 + 6.0) / 6.0)
    fine = [smooth.value(t) for t in np.linspace(0.0, 5.0, 501)]
    assert min(fine) >= 0.0
    assert max(fine) <= 3.0 + 1e-12
    assert np.all(np.diff(fine) >= -1e-12)


def test_the_mean_of_a_formula_is_its_integral():
    function = Formula("exp(-t)*sin(3*t)")
    rule = lambda t: -math.exp(-t) * (math.sin(3 * t) + 3 * math.cos(3 * t)) / 10.0  # noqa: E731
    assert gauss_mean(function, 0.3, 0.2) == pytest.approx((rule(0.5) - rule(0.3)) / 0.2, rel=1e-12)


def test_a_number_too_large_is_told_in_words():
    with pytest.raises(ValueError, match="it is too large"):
        evaluate(compile_formula("10**400"), "10**400", 0.0)


@pytest.mark.parametrize(
    "wrong", [lambda t: {}["key"], lambda t: None, lambda t: "1", lambda t: 1j, lambda t: math.nan]
)
def test_a_function_that_fails_is_named_with_its_time(wrong):
    def ramp(t):
        return t if t < 2.0 else wrong(t)

    function = read_time_function(ramp)
    assert function.value(1.5) == 1.5
    with pytest.raises(ValueError, match=r"function 'ramp' has no value at t = 2\.5 s"):
        function.value(2.5)
