// A scenario of an agent that tries everything, for agentls.agent.replay.

const NASTY = `# <img src=x onerror="window.hacked=1">

<script>window.hacked = 1</script><iframe src="https://evil.example"></iframe>
<svg onload="window.hacked=1">

[js](javascript:window.hacked=1) [command](command:workbench.action.quit) [vscode](vscode://x/y)
[data](data:text/html;base64,PHNjcmlwdD4=) ![spy](https://evil.example/spy.png) [user](https://good.example@evil.example/)
<https://evil.example/auto> \`command:workbench.action.quit\`

\u202egnp.exe\u202c and \u2066hidden\u2069 and \u001b[31mred\u001b[2J\u001b]0;title\u0007

| <b>x</b> | y |
|---|---|
| [a](javascript:1) | \`</code><script>window.hacked=1</script>\` |

\`\`\`html
</code></pre><script>window.hacked=1</script>
\`\`\`
`;

const HUGE_PNG = "iVBORw0KGgoAAAANSUhEUgABhqAAAYagCAYAAAA=";

export function hostileScenario(): string {
  const say = (text: string) =>
    update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const frames = [
    out("initialize", { protocolVersion: 1, clientCapabilities: {} }, 0),
    {
      dir: "in",
      msg: {
        jsonrpc: "2.0",
        id: 0,
        result: {
          protocolVersion: 1,
          agentCapabilities: { promptCapabilities: {} },
          authMethods: [],
        },
      },
    },
    out("session/new", { cwd: "/project", mcpServers: [] }, 1),
    { dir: "in", msg: { jsonrpc: "2.0", id: 1, result: { sessionId: "$session" } } },
    out("session/prompt", { sessionId: "$session", prompt: [{ type: "text", text: "x" }] }, 2),
    say(NASTY),
    update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: NASTY } }),
    update({
      sessionUpdate: "agent_message_chunk",
      content: { type: "image", mimeType: "image/png", data: HUGE_PNG },
    }),
    update({
      sessionUpdate: "agent_message_chunk",
      content: {
        type: "image",
        mimeType: "image/svg+xml",
        data: Buffer.from("<svg onload=x>").toString("base64"),
      },
    }),
    update({
      sessionUpdate: "tool_call",
      toolCallId: "call-1",
      title: "[Click](command:workbench.action.quit) <img src=x onerror=window.hacked=1> \u202e",
      kind: "execute",
      status: "in_progress",
      content: [
        { type: "content", content: { type: "text", text: NASTY } },
        {
          type: "diff",
          path: "/etc/<script>",
          oldText: "<script>",
          newText: "</div><script>window.hacked=1</script>",
        },
      ],
      locations: [{ path: "javascript:window.hacked=1", line: 1 }],
    }),
    update({
      sessionUpdate: "plan",
      entries: [{ content: "<img src=x onerror=window.hacked=1>", status: "<b>", priority: "x" }],
    }),
    say(`\n\n${"a".repeat(1_000_000)}\n\nthe end of it`),
    {
      dir: "in",
      msg: {
        jsonrpc: "2.0",
        id: 0,
        method: "session/request_permission",
        params: {
          sessionId: "$session",
          toolCall: {
            toolCallId: "call-1",
            title: "[Allow](command:workbench.action.quit) it",
            kind: "execute",
            status: "pending",
          },
          options: [
            { optionId: "once", name: "<b>Allow</b>", kind: "allow_once" },
            { optionId: "no", name: "Reject", kind: "reject_once" },
          ],
        },
      },
    },
    {
      dir: "out",
      msg: { jsonrpc: "2.0", id: 0, result: { outcome: { outcome: "selected", optionId: "no" } } },
    },
    { dir: "in", msg: { jsonrpc: "2.0", id: 2, result: { stopReason: "<script>" } } },
  ];
  return frames.map((frame) => JSON.stringify(frame)).join("\n");
}

function out(method: string, params: object, id: number): object {
  return { dir: "out", msg: { jsonrpc: "2.0", id, method, params } };
}

function update(what: object): object {
  return {
    dir: "in",
    msg: {
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId: "$session", update: what },
    },
  };
}
