"""Carries out an exported model in Python and visits its states, as a checker would: without one, and in seconds.

A model's procedures become functions whose globals are the state. Values are copied when they are assigned, as in the
model's language.
"""

import ast
import copy
import itertools
from dataclasses import dataclass, field
from types import SimpleNamespace

from gpucoh.export.syntax import guard_of, is_array, parameters


class Impossible(Exception):
    """A condition of the model does not hold, or a cell is impossible."""


def _require(condition, text):
    if not condition:
        raise Impossible(text)


def _impossible(step):
    raise Impossible(f"{step.state} takes {step.event}")


class Record:
    """Fields by name."""


def copied(value):
    if isinstance(value, Record):
        out = Record()
        out.__dict__ = {name: copied(part) for name, part in value.__dict__.items()}
        return out
    return [copied(part) for part in value] if isinstance(value, list) else value


def frozen(value):
    """The value as something that a set can hold."""
    if isinstance(value, Record):
        return tuple(frozen(part) for part in value.__dict__.values())
    return tuple(frozen(part) for part in value) if isinstance(value, list) else value


class _Executable(ast.NodeTransformer):
    """A function of the model as Python."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "blank":
            node.args = [ast.Constant(ast.unparse(node.args[0]))]
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        node.value = ast.Call(ast.Name("copied", ast.Load()), [node.value], [])
        return node

    def visit_AnnAssign(self, node):
        return self.visit_Assign(ast.Assign([node.target], node.value))

    def visit_match_case(self, node):
        """A name in a case is a value of an enumeration, where Python would bind it."""
        self.generic_visit(node)
        pattern = node.pattern
        if isinstance(pattern, ast.MatchAs) and pattern.name:
            value = ast.Attribute(ast.Name("enums", ast.Load()), pattern.name, ast.Load())
            node.pattern = ast.MatchValue(value)
        return node


def _assigned(function):
    """The names that the function gives a value."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@dataclass
class Visited:
    """The states of a program, the number of moves to the farthest, and the outcomes at rest."""

    states: int = 0
    depth: int = 0
    outcomes: set = field(default_factory=set)
    failures: list = field(default_factory=list)


class Interpreter:
    """A model that can be carried out."""

    def __init__(self, model):
        self.model, self.state = model, list(model.world())
        words = {word: word for words in model.enums.values() for word in words}
        self.env = {
            "copied": copied, "blank": self.blank, "require": _require, "impossible": _impossible,
            "enums": SimpleNamespace(**words), **words, **model.constants,
        }  # fmt: skip
        rules = model.definitions.rules()
        final = model.definitions.reachable(iter(["final_value"]))
        for function in [*model.functions(), *final, *rules]:
            self._define(copy.deepcopy(function))
        self.moves = [move for rule in rules for move in self._moves(rule)]

    def blank(self, record):
        out = Record()
        fields = self.model.definitions.records[record]
        out.__dict__ = {name: self._zero(kind) for name, kind in fields.items()}
        return out

    def _zero(self, kind):
        if array := is_array(kind):
            most = self.model.ranges[ast.unparse(array[0])][1]
            return [self._zero(array[1]) for _ in range(most + 1)]
        name = ast.unparse(kind)
        if name in self.model.definitions.records:
            return self.blank(name)
        return False if name == "bool" else self.model.enums.get(name, [0])[0]

    def _define(self, function):
        own = {item.arg for item in function.args.args}
        changed = sorted(_assigned(function) & set(self.state) - own)
        function.decorator_list, function.returns = [], None
        for item in function.args.args:
            item.annotation = None
        function = _Executable().visit(function)
        if changed:
            function.body.insert(0, ast.Global(changed))
        module = ast.fix_missing_locations(ast.Module([function], []))
        exec(compile(module, function.name, "exec"), self.env)

    def _moves(self, rule):
        """A rule with each value of its parameters: guard and call."""
        of = [(name, ast.unparse(kind)) for name, kind in parameters(rule) if name != "x"]
        names = ", ".join(name for name, _ in of)
        guard = eval(f"lambda {names}: {ast.unparse(guard_of(rule))}", self.env)
        domains = [
            self.model.enums.get(kind)
            or range(self.model.ranges[kind][0], self.model.ranges[kind][1] + 1)
            for _, kind in of
        ]
        for values in itertools.product(*domains):
            yield guard, self.env[rule.name], values

    def _load(self, state):
        for name, value in zip(self.state, state, strict=True):
            self.env[name] = copied(value)

    def _start(self, test):
        world = self.model.world()
        self._load([self._zero(kind) for kind in world.values()])
        for node in range(len(self.env["state"])):
            self.env["state"][node] = self.env["initial_state"](node)
        self.env["test"], self.env["evictions"] = test, self.model.constants["EVICTIONS"]

    def _now(self):
        return [self.env[name] for name in self.state]

    def _note(self, found, program):
        """The values read and the final one, of a state at rest."""
        if self.env["at_rest"]():
            read = [
                self.env["thread"][t].read[i]
                for t, thread in enumerate(program.threads)
                for i, operation in enumerate(thread.operations)
                if operation.reads
            ]
            found.outcomes.add((*read, self.env["final_value"]()))

    def visit(self, test=0):
        """Visit every state of a program, breadth first."""
        found, settle = Visited(), self.env.get("settle", lambda: None)
        self._start(test)
        level = [self._now()]
        seen = {frozen(level[0])}
        while level:
            later = []
            for state in level:
                self._load(state)
                self._note(found, self.model.programs[test])
                for call, values in [(c, v) for guard, c, v in self.moves if guard(*v)]:
                    self._load(state)
                    try:
                        call(self.blank("Step"), *values)
                        settle()
                    except Impossible as error:
                        found.failures.append(str(error))
                        continue
                    now = self._now()
                    if (key := frozen(now)) not in seen:
                        seen.add(key)
                        later.append(now)
            found.depth += bool(later)
            level = later
        found.states = len(seen)
        return found
