"""Options and commands of other programs, with the words that mean the same here."""

from __future__ import annotations

from collections.abc import Mapping

# The first word of a value is an option; a hint applies to the commands that have it.
OF_OPT: Mapping[str, str] = {
    # mlir-opt
    "--mlir-timing": "--timing",
    "--mlir-print-ir-before-all": "--print-before-all",
    "--mlir-print-ir-before": "--print-before PASS",
    "--mlir-print-ir-after-all": "--print-after-all",
    "--mlir-print-ir-after": "--print-after PASS",
    "--mlir-print-ir-after-change": "--print-changed",
    "--mlir-print-ir-after-failure": "--print-before PASS; a pass that fails leaves a file that repeats it",
    "--mlir-print-ir-tree-dir": "--dump-dir DIR",
    "--mlir-print-debuginfo": "--locations",
    "--mlir-disable-threading": "--jobs 1",
    "--emit-bytecode": "--emit bytecode",
    # LLVM's opt
    "--print-ir-before-all": "--print-before-all",
    "--print-ir-after-all": "--print-after-all",
    "--time-passes": "--timing",
    "-S": "--emit text, the default",
    "-disable-verify": "--no-verify-each",
}
OPTIONS: Mapping[str, str] = {
    **OF_OPT,
    **dict.fromkeys(("--tolerance", "--rtol", "--atol", "--abs_error_bound", "--rel_error_bound"), "--compare rel:X"),
    "--ulp": "--compare ulp:N",
    "--platform": "--engine xla",
    **dict.fromkeys(("--out", "--outfile"), "-o OUT"),
    **dict.fromkeys(("--html", "--format"), "-o report.html; also .json, .parquet, .dot, .nodes"),
    **dict.fromkeys(("--svg", "--png"), "--picture svg -o FILE; also png"),
    **dict.fromkeys(("-o", "--output", "--save"), "--outputs NPZ"),
    # XLA's hlo-translate and hlo_extractor
    **dict.fromkeys(("--hlo-to-stablehlo", "--hlo-text-to-stablehlo", "--hlo-text-to-mlir-hlo"), "--to stablehlo"),
    **dict.fromkeys(("--stablehlo-to-hlo", "--stablehlo-to-hlo-text", "--mlir-hlo-to-hlo-text"), "--to hlo"),
    "--height": "--before N",
}

# Options of mlir-opt without a counterpart that is an option.
ANSWERS: Mapping[str, str] = {
    **dict.fromkeys(
        ("--mlir-pass-statistics", "--stats"),
        "passes count nothing; --timing prints their time, and --json which of them changed the module",
    ),
    **dict.fromkeys(
        ("--debug", "--debug-only", "--mlir-debug-counter"),
        "passes print no debug lines; --print-changed prints the module after each pass that changed it",
    ),
    "--show-dialects": "modules are HLO or StableHLO; relayout help PASS says which of them a pass reads",
    **dict.fromkeys(
        ("--mlir-pass-pipeline-crash-reproducer", "--run-reproducer"),
        "no option is needed: a pass that fails leaves a file with its module, and the error names the command for it",
    ),
    "--allow-unregistered-dialect": "an unknown op of StableHLO is an error; --allow-unverified skips the verifier",
    **dict.fromkeys(
        ("--no-implicit-module", "--mlir-print-op-generic", "--mlir-print-local-scope"),
        "modules are printed in one form, and an untouched one as it was written",
    ),
}

COMMANDS: Mapping[str, str] = {
    **dict.fromkeys(("diff", "compare", "equal"), "relayout check A B"),
    **dict.fromkeys(("verify", "lint", "parse"), "relayout opt FILE, which reads, verifies and prints"),
    **dict.fromkeys(("exec", "execute", "interpret", "eval"), "relayout run FILE"),
    **dict.fromkeys(("isolate", "slice", "hlo_extractor"), "relayout extract FILE VALUE"),
    **dict.fromkeys(("translate", "hlo-translate", "xla-translate"), "relayout convert FILE --to FORM"),
    **dict.fromkeys(("cat", "view", "format"), "relayout print FILE"),
    **dict.fromkeys(("stats", "statistics", "histogram"), "relayout print --count FILE"),
    **dict.fromkeys(("memory", "analyze", "profile"), "relayout report FILE"),
    **dict.fromkeys(("draw", "show", "picture"), "relayout explain SHAPE --picture terminal"),
    **dict.fromkeys(("passes", "list"), "relayout opt --list-passes"),
    **dict.fromkeys(("test", "lit"), "lit DIRECTORY runs lit tests; relayout check FILE -p SPEC compares results"),
    **dict.fromkeys(("info", "env", "self-test", "selftest", "health"), "relayout doctor"),
    "-V": "relayout --version",
}
