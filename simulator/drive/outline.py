"""Definition lines of source files: Python through its own parser, other languages by the look of a line. Pure."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import PurePosixPath

Line = tuple[int, str]

_PYTHON = re.compile(r"^\s*(?:async\s+def|def|class)\s+\w+")
_BRACES = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|unsafe"
    r"|const|open|override|sealed|data|inline|extern|virtual)\s+)*"
    r"(?:class|interface|enum|struct|trait|impl|union|type|func|fn|function\*?|fun|def|module|namespace|record|object)"
    r"\b(?!\s*[=:,;)])"
)
#: a method in a class body: no statement, and the line ends with the brace that opens it
_METHOD = re.compile(
    r"^\s+(?!(?:if|for|while|switch|catch|return|else|do|try|function|new|throw|await|typeof|using|lock)\b)"
    r"(?:[\w$<>\[\],.?]+ +)*(?:get +|set +|\* *)?[#\w$]+\s*(?:<[^>()]*>)?\([^;]*\)\s*"
    r"(?::\s*[^;=]+|throws [\w, .]+)?\{\s*$"
)
_ARROW = re.compile(
    r"^\s*(?:export\s+)?(?:const|let|var)\s+\w+\s*(?::[^=]+)?="
    r"\s*(?:async\s*)?(?:function\b|(?:\([^)]*\)|\w+)[^=]*=>)"
)
_C = re.compile(r"^(?!\s|return\b|else\b|typedef\b|#|//|/\*)[\w:<>,~*&\s]+[\s*&][\w:~]+\s*\([^;]*$")
_RUBY = re.compile(r"^\s*(?:def|class|module)\s+\S+")

_SCRIPT = (_BRACES, _ARROW, _METHOD)
#: generated or minified lines are longer, and are no definitions that anybody would read
MAX_LINE_CHARS = 300

#: file ending -> the patterns of a definition line; ".py" is only the way out for code that does not parse
PATTERNS: dict[str, tuple[re.Pattern[str], ...]] = {
    ".py": (_PYTHON,),
    ".js": _SCRIPT,
    ".jsx": _SCRIPT,
    ".mjs": _SCRIPT,
    ".cjs": _SCRIPT,
    ".ts": _SCRIPT,
    ".tsx": _SCRIPT,
    ".go": (_BRACES,),
    ".rs": (_BRACES,),
    ".java": (_BRACES, _METHOD),
    ".kt": (_BRACES,),
    ".swift": (_BRACES,),
    ".cs": (_BRACES, _METHOD),
    ".scala": (_BRACES,),
    ".php": (_BRACES,),
    ".rb": (_RUBY,),
    ".c": (_C, _BRACES),
    ".h": (_C, _BRACES),
    ".cc": (_C, _BRACES),
    ".cpp": (_C, _BRACES),
    ".hpp": (_C, _BRACES),
}


def is_source(path: str) -> bool:
    return PurePosixPath(path).suffix in PATTERNS


def definitions(path: str, text: str) -> tuple[Line, ...]:
    """(1-based line, the line as written without blanks at its end) of each class, function and method."""
    lines = text.split("\n")
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes in somebody's source are no business of ours
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last: brackets too deep for the parser
            pass
        else:
            return tuple((n, lines[n - 1].rstrip()) for n in _python(tree.body))
    patterns = PATTERNS.get(suffix, ())
    return tuple(
        (n, line.rstrip())
        for n, line in enumerate(lines, 1)
        if len(line) <= MAX_LINE_CHARS and any(p.match(line) for p in patterns)
    )


def _python(body: list[ast.stmt]) -> list[int]:
    """Line numbers of definitions at this level and inside classes, not of functions inside functions."""
    found: list[int] = []
    for node in body:
        if isinstance(node, ast.ClassDef):
            found += [node.lineno, *_python(node.body)]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.lineno)
        elif isinstance(node, ast.If | ast.Try):  # `if TYPE_CHECKING:`, `try: import ... except: def ...`
            found += _python([*node.body, *node.orelse, *(s for h in getattr(node, "handlers", ()) for s in h.body)])
    return found
