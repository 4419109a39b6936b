"""Parts of check programs that run hidden tests: the process that decides starts another one for all code that an agent
wrote, asks it for values and compares them itself.

Python: an `assert` becomes a question. What it is compared with, where that is a literal, stays with the one who asks;
other conditions are asked for plainly or negated, by chance. So what runs beside an agent's code holds no answers.
Node: closures are private there; a word that was read before the agent's code is loaded marks what the tests say.
"""

#: the other process; standard input: JSON, [[title, source], ...]; a line out for every value and every exception
_ANSWERS = """
import json, os, sys, traceback
from decimal import Decimal
from fractions import Fraction
jobs = json.load(sys.stdin)
out, nothing = os.dup(1), os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(nothing, number)
sys.path.insert(0, ".")
sys.dont_write_bytecode = True

def plain(value):
    if value is None or value is True or value is False:
        return ["c", value]
    if isinstance(value, (int, float, Decimal, Fraction)):
        try:
            return ["n", str(Fraction(value))]
        except (ValueError, OverflowError):
            return ["o", repr(value)]
    if isinstance(value, str):
        return ["s", "".join(value)]
    if isinstance(value, (bytes, bytearray)):
        return ["b", bytes(value).hex()]
    if isinstance(value, dict):
        return ["d", [[plain(k), plain(v)] for k, v in value.items()]]
    for mark, kind in (("t", tuple), ("l", list), ("e", (set, frozenset))):
        if isinstance(value, kind):
            return [mark, [plain(v) for v in value]]
    return ["o", repr(value)]

def tell(*line):
    data = json.dumps(line).encode() + b"\\n"
    while data:
        data = data[os.write(out, data):]

for case, (title, source) in enumerate(jobs):
    def said(number, value, case=case):
        tell(case, number, plain(value))
    try:
        exec(compile(source, title, "exec"), {"__name__": "check", "said_": said})
    except BaseException as error:
        tell(case, "error", traceback.format_exception_only(error)[-1].strip())
os._exit(0)
"""

_ASKS = '''
import ast, json, random, secrets, subprocess, sys
from fractions import Fraction

class Asked(ast.NodeTransformer):
    """wants: what has to be said of each question, and the complaint when it is not. must: those that are asked once,
    in this order, whatever the code does."""

    def __init__(self, source):
        self.wants, self.must = [], []
        tree = ast.parse(source)
        body = []
        for statement in tree.body:
            first = len(self.wants)
            made = self.visit(statement)
            if isinstance(statement, ast.Assert):
                self.must += range(first, len(self.wants))
            body += made if isinstance(made, list) else [made]
        self.must.append(len(self.wants))
        body.append(self._question(ast.Constant(self._want("==", secrets.randbits(60), "it did not come to its end"))))
        tree.body = body
        self.source = ast.unparse(ast.fix_missing_locations(tree))

    def _want(self, how, value, complaint):
        self.wants.append((how, value, complaint))
        return value

    def _question(self, value):
        number = ast.Constant(len(self.wants) - 1)
        return ast.Expr(ast.Call(ast.Name("said_", ast.Load()), [number, value], []))

    def visit_Assert(self, node):
        told = node.msg.value if isinstance(node.msg, ast.Constant) else ast.unparse(node.test)
        both = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
        return [self._part(part, f"AssertionError: {told}") for part in (node.test.values if both else [node.test])]

    def _part(self, test, told):
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is)):
            how = "is" if isinstance(test.ops[0], ast.Is) else "=="
            for value, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
                try:
                    literal = ast.literal_eval(other)
                except (ValueError, TypeError, SyntaxError):
                    continue
                if how == "==" or literal in (None, True, False):
                    self._want(how, literal, told)
                    return self._question(value)
        negated = random.SystemRandom().random() < 0.5
        self._want("is", not negated, told)
        call = ast.Call(ast.Name("bool", ast.Load()), [test], [])
        return self._question(ast.UnaryOp(ast.Not(), test) if negated else call)

def plain(told):
    mark, value = told
    if mark == "n":
        return Fraction(value)
    if mark == "b":
        return bytes.fromhex(value)
    if mark == "d":
        return {plain(k): plain(v) for k, v in value}
    if mark in "tle":
        return {"t": tuple, "l": list, "e": frozenset}[mark](map(plain, value))
    return value if mark in "cs" else object()

def judged(asked, lines):
    """What is wrong by the lines that were said of one case, "" when nothing is."""
    must = list(asked.must)
    for number, told in lines:
        if number == "error":
            return str(told)
        how, want, complaint = asked.wants[number]
        value = plain(told)
        if not (value is want if how == "is" else value == want):
            return complaint
        if number in asked.must:
            if must[:1] != [number]:
                return "its tests were not asked in order"
            del must[0]
    return "its tests did not come to their end" if must else ""

def ask(cases):
    asked = [Asked(case["source"]) for case in cases]
    jobs = json.dumps([[case["title"], one.source] for case, one in zip(cases, asked)])
    said = [[] for _ in cases]
    try:
        command = [sys.executable, "-I", "-c", ANSWERS]
        ran = subprocess.run(command, input=jobs.encode(), capture_output=True, timeout=50)
        output = ran.stdout
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
    for line in output.splitlines():
        try:
            case, number, told = json.loads(line)
            said[case].append((number, told))
        except (ValueError, TypeError, IndexError, RecursionError):
            pass  # a line that is none of the tests'
    for case, one, lines in zip(cases, asked, said):
        try:
            why = judged(one, lines)
        except (ValueError, TypeError, IndexError, KeyError, RecursionError) as error:
            why = "it said what is no answer: " + type(error).__name__
        if why:
            yield case["title"] + ": " + why
'''

PYTHON = f"ANSWERS = {_ANSWERS!r}\n{_ASKS}"

NODE = r"""
import json, os, secrets, subprocess, tempfile

HEAD = '''
import strict from "node:assert/strict";
import { readFileSync, writeSync } from "node:fs";
const word_ = readFileSync(0, "utf8"), put_ = writeSync, ok_ = strict.ok;
const assert = Object.freeze(Object.assign((...given) => ok_(...given), strict));
const lib = await import("file://%s/src/index.ts");
'''
CASE = '''
try { await (async () => {
%s
})(); put_(1, "\\n" + word_ + "%d \\n"); } catch (e_) {
  put_(1, "\\n" + word_ + "%d " + (String(e_ && e_.message || e_).split("\\n")[0] || "failed") + "\\n");
}
'''

def ask(cases):
    word = secrets.token_hex(16)
    script = HEAD % os.getcwd() + "".join(CASE % (case["source"], n, n) for n, case in enumerate(cases))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "check.mts")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        command = ["node", "--no-warnings", "--experimental-strip-types", path]
        try:
            ran = subprocess.run(command, input=word.encode(), capture_output=True, timeout=45)
        except (OSError, subprocess.TimeoutExpired) as error:
            yield "node: " + type(error).__name__
            return
    said = [line[len(word):] for line in ran.stdout.decode(errors="replace").splitlines() if line.startswith(word)]
    told = dict(line.partition(" ")[::2] for line in said)
    for number, case in enumerate(cases):
        why = told.get(str(number))
        if why:
            yield case["title"] + ": " + why
    if len(said) != len(cases) or len(told) != len(cases):
        why = ran.stderr.decode(errors="replace").strip().splitlines()[-1:]
        yield (why or ["the hidden tests did not come to their end"])[0]
"""
