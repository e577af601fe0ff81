"""Who may import whom, and how long a file may be, read from the syntax tree of a source text."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

PROJECT = ("app", "pages", "lessons", "mechanisms", "gpu_demos", "tests")
FILE_LINES, FUNCTION_LINES = 250, 60
# Part of the project -> the project's modules it may import.
ALLOWED = {
    "app": ("pages", "lessons", "mechanisms"),
    "pages": ("pages", "lessons", "mechanisms", "gpu_demos.record", "gpu_demos.trace", "gpu_demos.live_queue"),
    "lessons": ("lessons",),
    "mechanisms": ("mechanisms",),
    "gpu_demos": ("gpu_demos", "mechanisms"),
    "tests": PROJECT,
}
# Parts that list what they may use from outside the standard library; the others may use what is installed.
OUTSIDE = {
    "lessons": ("markdown_it", "mdit_py_plugins", "latex2mathml"),
    "mechanisms": ("sympy", "mpmath", "numpy", "scipy"),
}
DEVICE_LIBRARIES = ("torch", "triton")
# Pages read records where no device library is installed.
STANDARD_LIBRARY_ONLY = tuple(
    f"gpu_demos/{name}.py" for name in ("__init__", "record", "trace", "live_queue", "models_fetch")
)
FRAME_FILES, FRAME_FUNCTION = ("mechanisms/quantity.py", "mechanisms/table.py"), "to_frame"


@dataclass(frozen=True, slots=True)
class Import:
    """A module named by an import, its line, and the innermost function around it ("" if none)."""

    module: str
    line: int
    function: str

    @property
    def top(self) -> str:
        """The first part of the module's name."""
        return self.module.partition(".")[0]


def imports(path: str, source: str) -> Iterator[Import]:
    """Every module imported, also inside functions, relatively, or by `import_module` with a literal name."""
    yield from _walk(ast.parse(source), "", PurePosixPath(path).with_suffix("").parts[:-1])


def import_faults(path: str, source: str) -> list[str]:
    """Imports that point the wrong way or to a library that has no place there."""
    part = PurePosixPath(path).with_suffix("").parts[0]
    found: list[str] = []
    for item in imports(path, source):
        fault = _project(part, item) if item.top in PROJECT else _outside(part, path, item)
        if fault:
            found.append(f"{path}:{item.line}: {item.module}: {fault}")
    return found


def length_faults(path: str, source: str) -> list[str]:
    """Files and functions that have grown too long."""
    lines = len(source.splitlines())
    found = [f"{path}: {lines} lines, the limit is {FILE_LINES}"] if lines > FILE_LINES else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                found.append(f"{path}:{node.lineno}: {node.name}: {lines} lines, the limit is {FUNCTION_LINES}")
    return found


def init_faults(path: str, source: str) -> list[str]:
    """A package file holds a docstring and nothing else."""
    tree = ast.parse(source)
    if path.endswith("__init__.py") and (len(tree.body) != 1 or not ast.get_docstring(tree)):
        return [f"{path}: must hold a docstring and nothing else"]
    return []


def _project(part: str, item: Import) -> str:
    allowed = ALLOWED[part]
    if any(item.module == name or item.module.startswith(f"{name}.") for name in allowed):
        return ""
    return f"{part} may import {', '.join(allowed)} of this project"


def _outside(part: str, path: str, item: Import) -> str:
    if item.top in sys.stdlib_module_names:
        return ""
    if item.top in DEVICE_LIBRARIES and part not in ("gpu_demos", "tests"):
        return "only gpu_demos may import it"
    if path in STANDARD_LIBRARY_ONLY:
        return "this file keeps to the standard library"
    if part in OUTSIDE and item.top not in OUTSIDE[part]:
        if item.top == "pandas" and path in FRAME_FILES and item.function == FRAME_FUNCTION:
            return ""
        return f"{part} may use {', '.join(OUTSIDE[part])}"
    return ""


def _walk(node: ast.AST, function: str, package: tuple[str, ...]) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        for module in _modules(child, package):
            yield Import(module, getattr(child, "lineno", 1), function)
        yield from _walk(child, inside, package)


def _modules(node: ast.AST, package: tuple[str, ...]) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [name.name for name in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            base = [*package[: len(package) - level + 1], *([module] if module else [])] if level else [module or ""]
            # `from gpu_demos import record` imports a module of the project, `from math import pi` a name.
            longer = base[0] in PROJECT and len(base) == 1 and "." not in base[0]
            return [".".join([*base, name.name]) for name in names] if longer else [".".join(base)]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(module)), *_]):
            return [module] if name in ("import_module", "__import__") else []
        case _:
            return []
