"""A warm interpreter: it has imported what agents' programs commonly use, and forks for each program it is given.

Run as a script by zygote.py (it must not import this package: programs would see that) as
`python interpreter.py DESCRIPTOR SCRATCH`, on a SOCK_SEQPACKET socket. A message is a JSON job (see `prepare`) with
three descriptors: standard input, output (error too), and a pipe on which the child's process id and later its wait
status come back, four bytes each, native order. First of all the names of the imported top-level modules go out as
JSON. When the owner is gone, so are the children and the scratch folder: an owner that was killed cannot tidy up.

The point is that a program cannot tell: its __main__, arguments, paths, streams, tracebacks and exit are those of
`python FILE`, `python -m MODULE` or `python -c PROGRAM`.
"""

import _imp
import ast
import atexit
import builtins
import contextlib
import gc
import hashlib
import importlib
import importlib.machinery
import io
import json
import logging
import marshal
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import threading
import time
import types
import warnings

WARM = """
    argparse ast base64 bisect collections contextlib copy csv dataclasses datetime decimal difflib email.message
    enum fractions functools glob hashlib heapq html html.parser inspect io itertools json logging math operator
    os pathlib pprint random re shutil sqlite3 statistics string struct subprocess sys tempfile textwrap threading
    time traceback typing unittest unittest.mock urllib.parse uuid xml.etree.ElementTree zipfile zoneinfo docx
    openpyxl pypdf
"""

#: frames of ours below a program's first one
DEPTH = 5

#: what imports do here, with compiled code kept by content: modification times are too coarse for files that are edited
#: and run within milliseconds. The lines marked in `keep_code` stand in tracebacks where importlib's own stand.
EXEC_MODULE = """
def exec_module(self, module):
    code = recall(self, module.__name__)
    if code is None:
        code = self.get_code(module.__name__)
        keep(self, module.__name__, code)
    _call_with_frames_removed(exec, code, module.__dict__)
"""


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    filters = warnings.filters[:]
    owner = select.poll()
    owner.register(control, select.POLLHUP)
    for name in WARM.split():
        importlib.import_module(name)
        if owner.poll(0):  # on a busy machine all of them take many seconds
            leave_scratch()
    warnings.filters[:] = filters
    logging._handlerList.clear()  # or its handler of last resort would be flushed in programs that never log
    keep_code(os.path.join(sys.argv[2], "code"))
    gc.collect()
    gc.freeze()  # neither looked at nor copied by collections in the children
    try:
        control.send(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})).encode())
    except OSError:
        leave_scratch()
    job, descriptors = serve(control)
    prepare(job, descriptors)
    start(job)


def keep_code(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)

    def place(loader, name):
        path = loader.get_filename(name)
        return path, os.path.join(folder, hashlib.sha1(loader.get_data(path)).hexdigest())

    def recall(loader, name):
        try:
            path, kept = place(loader, name)
            with open(kept, "rb") as file:
                code = marshal.loads(file.read())
        except (OSError, EOFError, ValueError, TypeError):
            return None
        _imp._fix_co_filename(code, path)
        return code

    def keep(loader, name, code):
        with contextlib.suppress(OSError, ValueError):
            _, kept = place(loader, name)
            with open(f"{kept}.{os.getpid()}", "wb") as file:
                marshal.dump(code, file)
            os.replace(file.name, kept)

    loader = importlib.machinery.SourceFileLoader
    tree = ast.parse(EXEC_MODULE)
    lines = sorted({line for _, _, line in loader.exec_module.__code__.co_lines() if line})
    function = tree.body[0]
    for statement, line in ((function.body[1].body[0], lines[1]), (function.body[2], lines[-1])):
        for node in ast.walk(statement):
            node.lineno = node.end_lineno = line
    removed = importlib._bootstrap._call_with_frames_removed
    space = {"recall": recall, "keep": keep, "_call_with_frames_removed": removed}
    exec(compile(tree, "<frozen importlib._bootstrap_external>", "exec"), space)
    loader.exec_module = space["exec_module"]


def serve(control):
    """Fork for each job. Returns only in a child: its job and descriptors."""
    status_pipes = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            reap(status_pipes)
        if control not in ready:
            continue
        try:
            message, descriptors, _, _ = socket.recv_fds(control, 1 << 18, 3)
        except ConnectionResetError:  # it had not read our first word
            message, descriptors = b"", []
        if not message:  # the owner is gone
            for pid in status_pipes:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            leave_scratch()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            for descriptor in (woken, wake, descriptors[2], *status_pipes.values()):
                os.close(descriptor)
            return json.loads(message), descriptors[:2]
        os.close(descriptors[0])
        os.close(descriptors[1])
        status_pipes[pid] = descriptors[2]
        os.write(descriptors[2], pid.to_bytes(4, sys.byteorder))


def leave_scratch() -> None:
    """The owner is gone. More than once, as a killed child may be writing there still."""
    for _ in range(20):
        shutil.rmtree(sys.argv[2], ignore_errors=True)
        if not os.path.exists(sys.argv[2]):
            break
        time.sleep(0.05)
    os._exit(0)


def reap(status_pipes) -> None:
    while status_pipes:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        pipe = status_pipes.pop(pid)
        with contextlib.suppress(OSError):  # nobody waits for it any more
            os.write(pipe, status.to_bytes(4, sys.byteorder))
        os.close(pipe)


def prepare(job, descriptors) -> None:
    """Make this process look like one just started. job: kind ("file", "module" or "command"), target, argv (as
    sys.argv), orig_argv, executable, cwd, env, isolated."""
    os.setsid()
    os.dup2(descriptors[0], 0)
    os.dup2(descriptors[1], 1)
    os.dup2(descriptors[1], 2)
    for descriptor in descriptors:
        os.close(descriptor)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    time.tzset()
    sys.argv = job["argv"]
    sys.orig_argv = job["orig_argv"]
    sys.executable = job["executable"]
    del sys.path[0]  # this script's folder
    if not job["isolated"]:
        first = {"file": os.path.dirname(os.path.realpath(job["target"])), "module": os.getcwd(), "command": ""}
        sys.path.insert(0, first[job["kind"]])
    sys.setrecursionlimit(sys.getrecursionlimit() + DEPTH)


def start(job) -> None:
    """Run the job and leave the process."""
    before = set(sys.modules)
    main = types.ModuleType("__main__")
    main.__dict__.update(__annotations__={}, __builtins__=builtins)
    sys.modules["__main__"] = main
    try:
        try:
            code = execute(job, main)
        finally:
            if job["kind"] == "file":  # for files alone the interpreter does so before it tells of an error
                flush(sys.stderr, sys.stdout)
    except SystemExit as end:
        code = end.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        code = 1
        del error, trace
    del main
    leave((code or 0) & 0xFF, before)


def execute(job, main) -> None:
    match job["kind"]:
        case "module":
            runpy._run_module_as_main(job["target"])
        case "file":
            path = os.path.join(os.getcwd(), job["target"])
            main.__file__, main.__cached__ = path, None
            main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
            with io.open_code(path) as file:
                source = file.read()
            exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)
        case "command":
            main.__loader__ = importlib.machinery.BuiltinImporter
            exec(compile(job["target"], "<string>", "exec", dont_inherit=True), main.__dict__)


def leave(code, before) -> None:
    """What the interpreter does at its end, for the program's own modules only: taking down the warm ones would cost
    more than many programs take. Objects are still let go of, since files that were never closed are written then."""
    threading._shutdown()
    atexit._run_exitfuncs()
    flush(sys.stdout, sys.stderr)
    sys.last_type = sys.last_value = sys.last_traceback = None
    own = [module for name, module in list(sys.modules.items()) if name not in before or name == "__main__"]
    for module in own:
        getattr(module, "__dict__", {}).clear()
    del own
    gc.collect()
    flush(sys.stdout, sys.stderr)
    os._exit(code)


def flush(*streams) -> None:
    for stream in streams:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()


if __name__ == "__main__":
    main()
