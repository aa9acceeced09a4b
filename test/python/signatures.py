"""The signatures of a module `cudnn`, as its functions show them: by inspect, and by the first lines of docstrings,
where compiled modules have them. As a program, it prints those of the installed package of that name as JSON, for
existing_package.json: <python> test/python/signatures.py"""

import enum
import importlib
import inspect
import json
import re
import sys

CLASSES = ("pygraph", "tensor", "Graph")
FUNCTIONS = (
    *("backend_version", "backend_version_string", "create_device_properties", "create_handle", "create_kernel_cache"),
    *("destroy_handle", "get_last_error_string", "get_stream", "graph", "graph_cache", "jit", "set_stream"),
)
SUBMODULES = ("datatypes", "graph", "wrapper")
HEAD = re.compile(r"^(?:\d+\. )?\w+\((.*)\)(?: -> .*)?$")
OPENING, CLOSING = "([{<", ")]}>"


def split(text):
    """The parts between the commas outside of brackets and quotes."""
    parts, depth, quote = [""], 0, None
    for place, sign in enumerate(text):
        if quote:
            quote = None if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in OPENING:
            depth += 1
        elif sign in CLOSING and text[place - 1] != "-":
            depth -= 1
        if sign == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def as_text(default):
    """<data_type.NOT_SET: 0> and data_type.NOT_SET are one."""
    text = str(default) if isinstance(default, enum.Enum) else repr(default)
    found = re.fullmatch(r"<(\w+\.\w+): \d+>", text)
    return found.group(1) if found else text


def parameter(text):
    """The parameter as name or name=default; empty where there is no name."""
    left, _, default = text.partition(" = ")
    name = left.partition(":")[0].strip()
    if re.fullmatch(r"arg\d*", name):
        name = ""
    found = re.fullmatch(r"<(\w+\.\w+): \d+>", default)
    default = found.group(1) if found else default
    return f"{name}={default}" if default else name


def of_docstring(function):
    heads = filter(None, map(HEAD.match, (function.__doc__ or "").splitlines()))
    texts = [head.group(1) for head in heads if head.group(1) != "*args, **kwargs"]
    parts = [[part for part in split(text) if part != "/" and not re.match(r"self\b", part)] for text in texts]
    return [list(map(parameter, overload)) for overload in parts]


def of_inspect(function):
    found = []
    for entry in inspect.signature(function).parameters.values():
        if entry.kind is entry.KEYWORD_ONLY and "*" not in found:
            found.append("*")
        stars = {entry.VAR_POSITIONAL: "*", entry.VAR_KEYWORD: "**"}.get(entry.kind, "")
        default = "" if entry.default is entry.empty else f"={as_text(entry.default)}"
        if entry.name != "self":
            found.append(f"{stars}{entry.name}{default}")
    return [found]


def signatures(function, fallback=None):
    """The parameters of each overload. `fallback` is asked where the function takes anything."""
    try:
        found = of_inspect(function)
    except (TypeError, ValueError):
        found = []
    takes_anything = not found or "*args" in found[0]
    return takes_anything and (of_docstring(fallback) or of_docstring(function)) or found


def of_class(kind, fallback):
    names = [name for name in dir(kind) if not name.startswith("_") or name in ("__init__", "__call__")]
    methods = {name: getattr(kind, name) for name in names}
    return {
        name: signatures(method, getattr(fallback, name, None)) for name, method in methods.items() if callable(method)
    }


def enumerators(kind):
    return {name: getattr(member, "value", member) for name, member in kind.__members__.items()}


def of_module(module):
    # Newer releases describe graphs in Python, and what nodes take in the compiled class behind these.
    behind = getattr(getattr(module, "_compiled_module", None), "backend_graph", None)
    classes = {name: of_class(getattr(module, name), behind if name == "pygraph" else None) for name in CLASSES}
    functions = {name: signatures(getattr(module, name)) for name in FUNCTIONS}
    kinds = {name: getattr(module, name) for name in dir(module)}
    submodules = {}
    for name in SUBMODULES:
        found = importlib.import_module(f"cudnn.{name}")
        submodules[name] = [entry for entry in ("Graph", "graph", "jit", "graph_cache") if hasattr(found, entry)]
    return {
        **classes,
        "functions": functions,
        "enumerations": {name: enumerators(kind) for name, kind in kinds.items() if hasattr(kind, "__members__")},
        "submodules": submodules,
    }


def lines(recorded):
    """JSON with one line for each entry of a part."""
    parts = []
    for name, part in recorded.items():
        entries = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in part.items())
        parts.append(f"  {json.dumps(name)}: {{\n{entries}\n  }}")
    return "{\n" + ",\n".join(parts) + "\n}"


if __name__ == "__main__":
    import cudnn

    if cudnn.__name__ != "cudnn":
        sys.exit(f"'import cudnn' gives {cudnn.__name__} here: another interpreter has to have the existing package")
    print(f'"{cudnn.__version__}": {lines(of_module(cudnn))}')
