"""What `opt` and `check` share: a pipeline from the command line, and the list of passes."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from dialect_utils.text import DiagnosticError
from passes.options import describe_options
from passes.pipeline import NamedPipeline, Pipeline, named_pipelines
from passes.registry import load_pass, pass_names
from relayout.arguments import Parser
from relayout.console import UsageError, print_json


def add_pipeline_options(parser: Parser) -> None:
    """Adds `-p SPEC` and the files with named pipelines."""
    parser.option("-p", "--passes", metavar="SPEC", help="passes as MLIR writes them: a,b{x=1 y=2}")
    parser.option(
        "--pipelines", metavar="TOML", type=Path, action="append", default=[], help="a file with named pipelines"
    )
    parser.option(
        "--verify-each", action="store_true", default=True, help="verify the module after each pass (the default)"
    )
    parser.option("--no-verify-each", dest="verify_each", action="store_false", help="verify the input only")


def read_pipeline(arguments: Namespace) -> Pipeline:
    """Returns the pipeline of the command line, an empty one without `-p`; raises UsageError."""
    try:
        known = named_pipelines(arguments.pipelines)
        return Pipeline.parse(arguments.passes or "", pipelines=known)
    except DiagnosticError as error:
        raise UsageError(error.diagnostics) from error


def print_passes(arguments: Namespace) -> None:
    """Prints all passes with their options, then the named pipelines."""
    if arguments.json:
        for name in pass_names():
            print_json(_describe(name))
        return
    for name in pass_names():
        cls = load_pass(name)
        print(f"{name:20} {cls.summary()}")
        for option, kind, default in describe_options(cls):
            print(f"{'':22}{option}={kind}{f' (default {default})' if default else ''}")
    pipelines = named_pipelines(arguments.pipelines)
    if pipelines:
        print("\nnamed pipelines:")
    for pipeline in pipelines.values():
        print(_pipeline_line(pipeline))


def _pipeline_line(pipeline: NamedPipeline) -> str:
    return f"{pipeline.name:20} {pipeline.summary}\n{'':22}{pipeline.spec}"


def _describe(name: str) -> dict[str, object]:
    cls = load_pass(name)
    options = [{"name": option, "type": kind, "default": default} for option, kind, default in describe_options(cls)]
    return {"pass": name, "summary": cls.summary(), "forms": list(cls.forms), "options": options}
