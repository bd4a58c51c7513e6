"""Titles, names and paths come from files: on the terminal they are text, never commands or markup."""

from __future__ import annotations

import io

import pytest
from support.scenes import SCENE

from rigidgrains.cli import app
from rigidgrains.cli.words import Terminal, fail, out, plain, print_rows, refuse, visible

NASTY = "\x1b[31mred\x1b]0;title\x07\x9b2J\u202e [bold]b[/] [link=x]\r"
SHOWN = r"\x1b[31mred\x1b]0;title\x07\x9b2J\u202e [bold]b[/] [link=x]"


def test_what_commands_the_terminal_is_written_out():
    assert visible(NASTY).startswith(SHOWN)
    assert visible("grün, 10 µm, 砂\n[1]") == "grün, 10 µm, 砂\n[1]"
    assert visible("\udcff") == r"\udcff"  # a file name that is no UTF-8


@pytest.mark.parametrize("say", [lambda text: print_rows([("title", text)]), lambda text: out.print(plain(text))])
def test_rows_and_lines_show_it_as_text(capsys, say):
    say(NASTY)
    told = capsys.readouterr().out
    assert SHOWN in " ".join(told.split())
    assert "\x1b" not in told


@pytest.mark.parametrize("say", [fail, refuse])
def test_errors_show_it_as_text(capsys, say):
    with pytest.raises(SystemExit):
        say(f"{NASTY} is no scene")
    told = capsys.readouterr().err
    assert SHOWN in told
    assert "\x1b" not in told


def test_whoever_forgets_to_ask_is_covered():
    """Also raw text that is printed as it is; colours of our own are still commands."""
    file = io.StringIO()
    Terminal(file=file, highlight=False, force_terminal=True, color_system="standard").print(f"[red]bad[/] \x1b[2J {1}")
    assert r"\x1b[2J" in file.getvalue()
    assert file.getvalue().count("\x1b") == 2  # red, and its end


def test_a_nasty_scene(tmp_path, monkeypatch, capsys):
    """Its title and its walls, in what info says; its path, in what is said of it."""
    monkeypatch.chdir(tmp_path)
    nasty = r"\u001b[31mred\u001b]0;title\u0007 [bold]b[/]"
    path = tmp_path / "[red]odd.toml"
    path.write_text(SCENE.replace("dimension = 2", f'title = "{nasty}"\ndimension = 2', 1))
    app(["info", str(path)], exit_on_error=False, result_action="return_value")
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert r"\x1b[31mred\x1b]0;title\x07 [bold]b[/]" in told
    app(["run", str(path), "--steps", "2"], exit_on_error=False, result_action="return_value")
    told = capsys.readouterr()
    assert "[red]odd" in told.out
    assert "\x1b" not in told.out
