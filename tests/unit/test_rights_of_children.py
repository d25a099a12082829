"""A session that another one started may do no more than that one, but for what a person says."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core.model import ToolCallId
from agentls.core.policy.gate import SessionPolicy
from agentls.core.policy.rules import Mode, Rule, Scope
from agentls.core.policy.suggest import Suggestion
from agentls.core.policy.verdicts import PathUse, Subject, Verdict
from agentls.core.transcript import ToolCall

ROOT = "/project"
STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


class Book:
    """Rules in memory."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self.all = list(rules)

    def rules(self) -> Sequence[Rule]:
        return self.all

    def problems(self) -> Sequence[str]:
        return ()

    def add(self, rule: Rule, scope: Scope) -> Rule:
        self.all.append(rule)
        return rule

    def remove(self, rule: Rule) -> None:
        self.all.remove(rule)


def policy(agent: str, book: Book, root: str = ROOT) -> SessionPolicy:
    def resolve(path: str, folder: str) -> str:
        return path if path.startswith("/") else f"{folder}/{path}"

    return SessionPolicy(agent, root, book=book, resolve=resolve, protected=("/secret",))


verdicts = st.sampled_from(list(Verdict))
agents = st.sampled_from([None, "one", "two"])
rules = st.builds(
    lambda verdict, agent, what: Rule(verdict=verdict, agent=agent, **what),
    verdicts,
    agents,
    st.one_of(
        st.sampled_from(["echo", "git", "git push", "npm test", "rm"]).map(
            lambda words: {"command": words}
        ),
        st.sampled_from(["src/**", "*.md", "/project/src/a.py", "/other/**"]).map(
            lambda glob: {"path": glob}
        ),
        st.sampled_from(["edit", "execute", "fetch", "read"]).map(lambda kind: {"kind": kind}),
        st.sampled_from(["example.org", "*"]).map(lambda host: {"host": host}),
        st.just({"tool": "mcp__x__y"}),
    ),
)
wishes = st.one_of(
    st.sampled_from(
        ["echo hi", "git push origin", "npm test && rm -rf /", "npm test", "echo $(git push)"]
    ).map(lambda line: Subject(agent="two", kind="execute", command=line, cwd=ROOT)),
    st.builds(
        lambda path, write: Subject(
            agent="two",
            kind="edit" if write else "read",
            cwd=ROOT,
            paths=(PathUse(path, write),),
        ),
        st.sampled_from(["/project/src/a.py", "/project/b.md", "/other/c", "/secret/d"]),
        st.booleans(),
    ),
    st.just(Subject(agent="two", kind="fetch", host="example.org")),
    st.just(Subject(agent="two", kind="other", tool="mcp__x__y")),
    st.just(Subject(agent="two", kind="edit", also="more than that")),
)
some_rules = st.lists(rules, max_size=5)
modes = st.sampled_from(list(Mode))


@settings(max_examples=400, deadline=None)
@given(
    wish=wishes,
    known=some_rules,
    of_parent=some_rules,
    passed=some_rules,
    denied=some_rules,
    mode=modes,
    childs=modes,
)
def test_a_child_may_never_do_what_its_parent_may_not(
    *,
    wish: Subject,
    known: list[Rule],
    of_parent: list[Rule],
    passed: list[Rule],
    denied: list[Rule],
    mode: Mode,
    childs: Mode,
) -> None:
    book = Book(known)
    parent, child, grandchild = (policy(name, book) for name in ("one", "two", "two"))
    parent.mode, child.mode, grandchild.mode = mode, childs, Mode.TRUST
    parent._own = of_parent
    child.stay_within(parent, allow=passed, deny=denied)
    grandchild.stay_within(child, allow=passed)
    limit = STRICTNESS[parent.ruling(own_of(wish, "one")).verdict]
    assert STRICTNESS[child.ruling(wish).verdict] >= limit
    assert STRICTNESS[grandchild.ruling(wish).verdict] >= limit
    below = STRICTNESS[child.ruling(wish).verdict]
    assert STRICTNESS[grandchild.ruling(wish).verdict] >= below


def own_of(subject: Subject, agent: str) -> Subject:
    kept = {f: getattr(subject, f) for f in subject.__struct_fields__}
    return Subject(**{**kept, "agent": agent})


RUN = Subject(agent="two", kind="execute", command="npm test", cwd=ROOT)
ALLOW_NPM = Rule(verdict=Verdict.ALLOW, command="npm test")


def test_what_a_person_allowed_to_the_parent_alone_is_not_inherited() -> None:
    parent, child = policy("one", Book()), policy("two", Book())
    parent._own = [ALLOW_NPM]
    child.stay_within(parent)
    assert child.ruling(RUN).verdict is Verdict.ASK


def test_a_parent_passes_on_what_it_may_do_itself_and_nothing_else() -> None:
    parent, child = policy("one", Book()), policy("two", Book())
    parent._own = [ALLOW_NPM]
    push = Subject(agent="two", kind="execute", command="git push", cwd=ROOT)
    passed = [ALLOW_NPM, Rule(verdict=Verdict.ALLOW, command="git push")]
    child.stay_within(parent, allow=passed)
    assert child.ruling(RUN).verdict is Verdict.ALLOW
    ruling = child.ruling(push)
    assert ruling.verdict is Verdict.ASK
    assert "the agent that started this one" in ruling.why


def test_a_rule_for_another_agent_gives_a_parent_no_way_around_its_own() -> None:
    book = Book([Rule(verdict=Verdict.ALLOW, command="npm test", agent="two")])
    parent, child = policy("one", book), policy("two", book)
    assert child.ruling(RUN).verdict is Verdict.ALLOW
    child.stay_within(parent)
    assert child.ruling(RUN).verdict is Verdict.ASK


def test_what_is_denied_to_the_parent_is_denied_whatever_anybody_says_to_the_child() -> None:
    parent, child = policy("one", Book()), policy("two", Book())
    parent._own = [Rule(verdict=Verdict.DENY, command="npm")]
    child.stay_within(parent, allow=[ALLOW_NPM])
    child._own = [ALLOW_NPM]
    child.mode = child.person_mode = Mode.TRUST
    assert child.ruling(RUN).verdict is Verdict.DENY


def test_always_said_to_a_child_holds_for_it_and_not_for_its_parent() -> None:
    book = Book()
    parent, child = policy("one", book), policy("two", book)
    child.stay_within(parent)
    call = ToolCall(id="e1", at=0.0, turn=1, call=ToolCallId("c"), kind="execute")
    call.input = {"command": "npm test"}
    offered = child.judge(call).suggestions
    assert offered, "a rule is on offer, since it would hold"
    narrow: Suggestion = offered[0]
    child.remember(narrow, "project")
    assert child.ruling(RUN).verdict is Verdict.ALLOW
    assert parent.ruling(own_of(RUN, "one")).verdict is Verdict.ASK


def test_a_mode_that_a_person_chose_for_the_child_counts_and_one_that_it_began_with_does_not() -> (
    None
):
    edit = Subject(
        agent="two", kind="edit", cwd=ROOT, paths=(PathUse("/project/src/a.py", write=True),)
    )
    parent, child = policy("one", Book()), policy("two", Book())
    child.stay_within(parent)
    child.mode = Mode.ACCEPT_EDITS
    assert child.ruling(edit).verdict is Verdict.ASK
    child.person_mode = Mode.ACCEPT_EDITS
    assert child.ruling(edit).verdict is Verdict.ALLOW
    parent.mode = Mode.READ_ONLY
    assert child.ruling(edit).verdict is Verdict.DENY


def test_work_in_a_copy_is_judged_as_work_in_the_original() -> None:
    book = Book([Rule(verdict=Verdict.DENY, path="/project/src/**")])
    parent, child = policy("one", book), policy("two", book, "/copies/1")
    parent.mode = child.mode = Mode.ACCEPT_EDITS
    child.stay_within(parent, moved=("/copies/1", ROOT))

    def edit(path: str) -> Verdict:
        use = PathUse(path, write=True)
        wish = Subject(agent="two", kind="edit", cwd="/copies/1", paths=(use,))
        return child.ruling(wish).verdict

    assert edit("/copies/1/b.md") is Verdict.ALLOW
    assert edit("/copies/1/src/a.py") is Verdict.DENY
    assert edit("/copies/2/b.md") is Verdict.ASK
