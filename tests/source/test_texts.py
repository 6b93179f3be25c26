"""What a raise says, told from source: each case beside what Python makes of it."""

from __future__ import annotations

import ast
import traceback
from textwrap import dedent, indent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonogo.source.statements import sites_of
from gonogo.source.templates import Placeholder, Template


def message_of(statements: str, before: str = "") -> Template:
    """The message of the last raise site in a function with these statements."""
    source = dedent(before) + "\ndef function(self, x, y, items, flag):\n" + indent(dedent(statements), "    ")
    message = sites_of(ast.parse(source))[-1].message
    assert message is not None
    return message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('"plain"', "plain"),
        ('"one "\n"two"', "one two"),
        ('f"got {x} of {self.limit!r:>10}."', "got {} of {}."),
        ('f"{x=}"', "x={}"),
        ('f"{{literal}} {x}"', "{literal} {}"),
        ('"%s has %d%% of %(odd)s" % (x, y)', "{} has {}% of {}"),
        ('"%(a)s and %(b).2f" % {"a": x, "b": y}', "{} and {}"),
        ('"%-5s|%*d" % (x, 7, y)', "{}|{}"),
        ('"only %s" % x', "only {}"),
        ('"{} and {}".format(x, y)', "{} and {}"),
        ('"{1} {0} {name!r} {name.attr[0]:>3}".format(x, y, name=flag)', "{} {} {} {}"),
        ('"{} {}".format(*items)', "{} {}"),
        ('"{{x}} {}".format(x)', "{x} {}"),
        ('"a " + x + " b " + str(y)', "a {} b {}"),
        ('"a " + ("b " + "c")', "a b c"),
        ('", ".join(["a", x, "b"])', "a, {}, b"),
        ('", ".join(items)', "{}"),
        ('"Unknown: " + ", ".join(sorted(items))', "Unknown: {}"),
        ('textwrap.dedent("""\\\n    first\n      second""")', "first second"),
        ('dedent(f"""\n    first {x}\n    second""")', "first {} second"),
        ('inspect.cleandoc("""\n    first\n    second\n    """)', "first second"),
        ('"  padded ".strip()', "padded"),
        ('_("translated %s") % x', "translated {}"),
        ('"=" * 3 + " head"', "=== head"),
        ('f"{1}{None}" "x"', "1Nonex"),
        ("5", "5"),
        ("x", "{}"),
        ("str(x)", "{}"),
        ("str('known')", "known"),
        ("x.describe()", "{}"),
        ("f\"a {'b' if flag else 'c'} d\"", "a {} d"),
        ('"b" if flag else "c"', "{}"),
        ('x or "nothing given"', "{}"),
        ('f"{x:{y}.3f} wide"', "{} wide"),
    ],
)
def test_text_of_an_expression(expression: str, expected: str) -> None:
    assert message_of(f"raise ValueError({expression})").text == expected


def test_placeholders_keep_expression_conversion_and_spec() -> None:
    message = message_of('raise ValueError(f"{x} {self.a.b!r} {len(items):>{y}} " + "%.2f %r" % (x, y))')
    assert message.placeholders == (
        Placeholder("x"),
        Placeholder("self.a.b", conversion="r"),
        Placeholder("len(items)", spec=">{y}"),
        Placeholder("x", spec=".2f"),
        Placeholder("y", conversion="r"),
    )


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ('msg = f"no {x}"\nraise ValueError(msg)', "no {}"),
        ('msg: str = "a "\nmsg += f"b {x}"\nmsg += " c"\nraise ValueError(msg)', "a b {} c"),
        ('msg = "a"\nraise ValueError(f"{msg} in {x}")', "a in {}"),
        ('msg = "a %s"\nraise ValueError(msg % x)', "a {}"),
        ('msg = "a"\nif flag:\n    msg += " b"\nraise ValueError(msg)', "a{}"),
        ('msg = "a"\nfor i in items:\n    msg += i\nraise ValueError(msg)', "a{}"),
        ('msg = "a"\nfor i in items:\n    msg = i\nraise ValueError(msg)', "{}"),
        ('msg = "a"\nfor i in items:\n    if i:\n        raise ValueError(msg)\n    msg = i', "{}"),
        ('msg = "a"\nmsg, y = x\nraise ValueError(msg)', "{}"),
        ('msg = "a"\nwith x as msg:\n    raise ValueError(msg)', "{}"),
        ('msg = "a"\ntry:\n    msg = "b"\n    return f()\nexcept OSError:\n    raise ValueError(msg)', "{}"),
        ('msg = "a"\ndel msg\nraise ValueError(msg)', "{}"),
        ('self.why = "because"\nraise ValueError(self.why)', "because"),
        (
            'try:\n    f()\nexcept OSError as e:\n    msg = f"failed: {e}"\n    raise ValueError(msg) from e',
            "failed: {}",
        ),
        ('match x:\n    case 1:\n        msg = "a"\n    case _:\n        msg = "b"\nraise ValueError(msg)', "{}"),
        ('err = ValueError(f"kept {x}")\nraise err', "kept {}"),
        ('if flag:\n    msg = "a"\n    raise KeyError(1)\nelse:\n    msg = "b"\nraise ValueError(msg)', "b"),
    ],
)
def test_names_assigned_before(statements: str, expected: str) -> None:
    assert message_of(statements).text == expected


def test_whole_messages_chosen_between_are_alternatives() -> None:
    message = message_of(
        """
        if flag:
            msg = f"cannot {x}"
        elif y:
            msg = "never"
        else:
            return
        raise ValueError(msg)
        """
    )
    assert [each.text for each in message.alternatives()] == ["cannot {}", "never"]
    assert message.pattern.fullmatch("cannot run")
    assert not message.pattern.fullmatch("something else")


def test_constants_of_module_and_class() -> None:
    before = """
    TEXT = "not with {}"
    other = "may change"
    class Here:
        TEXT = "class's own"
        def method(self):
            raise ValueError(self.TEXT + f" and {TEXT}")
    """
    sites = sites_of(ast.parse(dedent(before)))
    assert [site.template for site in sites] == ["class's own and not with {}"]
    assert message_of("raise ValueError(TEXT.format(x))", before).text == "not with {}"
    assert message_of("raise ValueError(other)", before).text == "{}"


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        ("ValueError", ""),
        ("ValueError()", ""),
        ('HTTPException(status_code=400, detail=f"bad {x}")', "bad {}"),
        ('HTTPException(400, "bad thing")', "bad thing"),
        ('EngineError("text", parameter="p", value=x)', "text"),
        ('errors.EngineError(message="text")', "text"),
        ('ValueError("a").with_traceback(x)', "a"),
    ],
)
def test_message_argument_of_an_exception(raised: str, expected: str) -> None:
    assert message_of(f"raise {raised}").text == expected


# Each exception is made by Python itself, with x = 7, and its str() must fit what source says.
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        ("ValueError('Unsupported dtype:', x)", "('Unsupported dtype:', {})"),
        ('ValueError("can\'t", x, 3)', '("can\'t", {}, 3)'),
        ("ValueError('both \\' and \"', x)", "('both \\' and \"', {})"),
        ("KeyError(f'no {x}')", "'no {}'"),
        ("KeyError(x)", "{}"),
        ("OSError(x, 'gone')", "[Errno {}] gone"),
        ("AssertionError('a\\n  b', x)", "('a\\n b', {})"),
        ("SystemExit('stop')", "stop"),
    ],
)
def test_what_python_makes_of_several_arguments(raised: str, expected: str) -> None:
    message = message_of(f"raise {raised}")
    assert message.text == expected
    assert message.pattern.fullmatch(str(eval(raised, {"x": 7})))


@pytest.mark.parametrize(
    "statements",
    [
        "raise x",
        "raise",
        "raise self.dead_error",
        "raise self._make(x)",
        "raise event['error']",
        "raise ValueError(*items)",
        "try:\n    f()\nexcept ValueError as e:\n    raise e",
    ],
)
def test_source_does_not_say_the_message(statements: str) -> None:
    source = "def function(self, x, items, event):\n" + indent(statements, "    ")
    site = sites_of(ast.parse(source))[-1]
    assert (site.message, site.template, site.templates) == (None, None, ())


_LITERALS = st.text(st.sampled_from("ab Z0'\"{}%\n\t\\é:.*+?|()[]"), max_size=8)
_VALUES = st.one_of(st.text(max_size=6), st.integers(), st.lists(st.integers(), max_size=2))


def _quoted(text: str) -> str:
    return "'" + text.encode("unicode_escape").decode().replace("'", "\\'") + "'"


@st.composite
def _expressions(draw: st.DrawFn) -> tuple[str, str]:
    """A text expression over x, y and flag, and its template as put together here: literals and ``{}``."""
    pieces = draw(st.lists(st.one_of(_LITERALS, st.sampled_from(["x", "y"]).map(lambda name: (name,))), max_size=6))
    style = draw(st.sampled_from(["f", "percent", "format", "plus", "join"]))
    conversion = draw(st.sampled_from(["", "r", "s"]))
    template = "".join(piece if isinstance(piece, str) else "{}" for piece in pieces)
    names = [piece[0] for piece in pieces if isinstance(piece, tuple)]
    mark = f"!{conversion}" if conversion else ""
    braced = [piece.replace("{", "{{").replace("}", "}}") if isinstance(piece, str) else piece for piece in pieces]
    if style == "f":
        return "".join(
            "f" + _quoted(piece) + " " if isinstance(piece, str) else f"f'{{{piece[0]}{mark}}}' " for piece in braced
        ) or "''", template
    if style == "format":
        whole = "".join(piece if isinstance(piece, str) else "{" + mark + "}" for piece in braced)
        return f"{_quoted(whole)}.format({', '.join(names)})", template
    if style == "percent":
        whole = "".join(
            piece.replace("%", "%%") if isinstance(piece, str) else f"%{conversion or 's'}" for piece in pieces
        )
        return f"{_quoted(whole)} % ({''.join(name + ', ' for name in names)})", template
    each = [_quoted(piece) if isinstance(piece, str) else f"str({piece[0]})" for piece in pieces]
    if style == "join":
        return f"''.join([{', '.join(each)}])", template
    return " + ".join(["''", *each]), template


@given(_expressions(), _VALUES, _VALUES)
def test_what_an_expression_gives_fits_its_template(expression: tuple[str, str], x: Any, y: Any) -> None:
    source, template = expression
    message = message_of(f"raise ValueError({source})")
    assert message.text == " ".join(template.split())
    assert message.pattern.fullmatch(eval(source, {"x": x, "y": y}))


_STATEMENTS = st.recursive(
    st.one_of(
        _expressions().map(lambda pair: f"msg = {pair[0]}"),
        _expressions().map(lambda pair: f"msg += {pair[0]}"),
        st.sampled_from(["msg = x", "y = msg", "pass", "return", "raise RuntimeError(msg)", "raise IndexError(msg)"]),
        _expressions().map(lambda pair: f"raise ValueError(f'{{msg}} ' + {pair[0]})"),
        _expressions().map(lambda pair: f"assert flag, msg + {pair[0]}"),
    ),
    lambda inner: st.one_of(
        st.tuples(
            st.sampled_from(
                [
                    ("if flag:", "else:"),
                    ("if not flag:", "elif x:"),
                    ("for x in 'ab':", "else:"),
                    ("while x:", "else:"),
                    ("try:", "except RuntimeError as y:"),
                    ("try:", "finally:"),
                    ("for i in 'ab':\n    if i == 'b':\n        flag = False", "if flag:"),
                ]
            ),
            st.lists(inner, min_size=1, max_size=3),
            st.lists(inner, min_size=1, max_size=3),
        ).map(
            lambda made: (
                f"{made[0][0]}\n{indent(chr(10).join(made[1]), '    ')}\n"
                + ("    x = ''\n" if made[0][0].startswith("while") else "")
                + f"{made[0][1]}\n{indent(chr(10).join(made[2]), '    ')}"
            )
        )
    ),
    max_leaves=8,
)


@given(st.lists(_STATEMENTS, min_size=1, max_size=4), st.text(max_size=3), st.text(max_size=3), st.booleans())
def test_what_a_function_raises_fits_the_site_that_raised_it(statements: list[str], x: str, y: str, flag: bool) -> None:
    body = "\n".join(["msg = 'start'", *statements, "raise ValueError(msg)"])
    source = "def function(x, y, flag):\n" + indent(body, "    ")
    scope: dict[str, Any] = {}
    exec(source, scope)
    error = None
    try:
        scope["function"](x, y, flag)
    except (AssertionError, RuntimeError, IndexError, ValueError) as raised:
        error = raised
    # Of the others the statements drawn know only a NameError (msg unbound behind a handler) and a TypeError.
    except (NameError, TypeError):
        return
    if error is None:
        return
    line = list(traceback.walk_tb(error.__traceback__))[-1][1]
    sites = [site for site in sites_of(ast.parse(source)) if site.line_first <= line <= site.line_last]
    assert [site.exception for site in sites] == [type(error).__name__]
    assert sites[0].message is not None
    assert sites[0].message.pattern.fullmatch(str(error)), (source, sites[0])
