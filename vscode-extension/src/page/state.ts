// What is above the prompt: the state of the session with the button that helps, and what there is to
// review.

import type { SessionHead } from "../protocol.gen";
import { box } from "./entries";
import { button, h, icon, type Node } from "./node";

export function stateBox(head: SessionHead, agent: string): readonly Node[] {
  const [first, ...more] = head.login ?? [];
  if (first) {
    const buttons = [first, ...more].map((way) =>
      button("login", more.length === 0 ? "Log in" : way.name, { "data-method": way.id }),
    );
    return [box("warning", `${agent} wants you to log in first.`, ...buttons)];
  }
  if (head.place === "elsewhere")
    return [box("info", "This session is alive in another window: read it here, talk there.")];
  if (head.place === "past") {
    if (head.died === true || head.turnRunning === true)
      return [
        box(
          "warning",
          "The agent was interrupted. The next prompt takes the session up again.",
          button("continue", "Continue"),
        ),
      ];
    return [box("info", "A past session. The next prompt takes it up again.")];
  }
  if (head.state === "failed")
    return [
      box("error", head.detail ?? "The agent ended.", button("restart", "Restart the agent")),
    ];
  if (head.state === "starting")
    return [
      h(
        "div.progress",
        { role: "status" },
        icon("loading", "codicon-modifier-spin"),
        `Starting ${agent}…`,
      ),
    ];
  if (head.stuck === true)
    return [
      box(
        "warning",
        `${agent} has given no sign of life since ${new Date(head.lastSign * 1000).toLocaleTimeString()}.`,
        button("stop", "Stop"),
        button("restart", "Restart the agent"),
      ),
    ];
  return [];
}

export function changesBar(files: number, lines: string): readonly Node[] {
  if (files === 0) return [];
  const what = (name: string) => ({ "data-what": name });
  return [
    h(
      "div.changes-bar",
      { role: "group", "aria-label": "Changes to review" },
      icon("diff-multiple"),
      h("span", {}, `${files === 1 ? "1 file" : `${files} files`}, ${lines}`),
      button("changes", "Review", what("review")),
      button("changes", "Keep", what("keep")),
      button("changes", "Undo", what("undo")),
    ),
  ];
}
