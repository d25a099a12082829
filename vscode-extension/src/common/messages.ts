// What the host and a page say to each other. The page decides nothing: it sends what a person did.

import type {
  AskDecideParams,
  ContentBlock,
  DidChangeParams,
  Entry,
  SessionHead,
  SnapshotResult,
} from "../protocol.gen";

/** What a person can put after an @. */
export interface Mention {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  readonly icon: string;
}

/** Something that goes with the next prompt. */
export interface Attachment {
  readonly label: string;
  readonly block: ContentBlock;
}

export type ServerState =
  /** Nothing has needed it yet. */
  | { readonly state: "idle" }
  | { readonly state: "starting" }
  | { readonly state: "running" }
  | { readonly state: "stopped"; readonly message: string; readonly action?: ServerAction };

/** A command that a person can run to go on. */
export interface ServerAction {
  readonly command: string;
  readonly label: string;
}

export type ToPage =
  | { readonly type: "server"; readonly server: ServerState }
  | { readonly type: "agents"; readonly agents: readonly AgentChoice[]; readonly chosen: string }
  /** No session: the next prompt opens one. */
  | { readonly type: "empty" }
  | { readonly type: "snapshot"; readonly snapshot: SnapshotResult }
  /** Entries that belong before those of the snapshot that follows: a long one comes in pieces. */
  | { readonly type: "part"; readonly entries: readonly Entry[] }
  | { readonly type: "batch"; readonly batch: DidChangeParams }
  | { readonly type: "mentions"; readonly query: string; readonly items: readonly Mention[] }
  | { readonly type: "attach"; readonly attachment: Attachment }
  | { readonly type: "draft"; readonly text: string }
  | { readonly type: "sent"; readonly ok: boolean }
  | { readonly type: "problem"; readonly text: string }
  /** Go to an entry, as soon as it is there. */
  | { readonly type: "reveal"; readonly entryId: string }
  /** What the agent of the session changed and nobody has decided. */
  | { readonly type: "changes"; readonly files: number; readonly lines: string }
  | { readonly type: "focus" };

export interface AgentChoice {
  readonly name: string;
  readonly title: string;
}

export type FromPage =
  | { readonly type: "ready"; readonly sessionId: string; readonly draft: string }
  /** For the side bar: VS Code itself forgets the state of its page with the window. */
  | { readonly type: "keep"; readonly sessionId: string; readonly draft: string }
  | { readonly type: "resync" }
  | { readonly type: "older" }
  | {
      readonly type: "prompt";
      readonly text: string;
      readonly blocks: readonly ContentBlock[];
      /** Stop the running turn first: the prompt is a better one for it. */
      readonly instead: boolean;
    }
  | { readonly type: "cancel" }
  | { readonly type: "decide"; readonly params: AskDecideParams }
  /** Without a text the host asks for one. */
  | { readonly type: "answer"; readonly questionId: string; readonly text: string }
  | { readonly type: "pick"; readonly what: "agent" | "mode" | "policy" }
  | { readonly type: "pickOption"; readonly option: string }
  | { readonly type: "link"; readonly href: string }
  | {
      readonly type: "showDiff";
      readonly entryId: string;
      readonly part: number;
      readonly path: string;
    }
  | { readonly type: "showBody"; readonly entryId: string; readonly part: number | string }
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "mentions"; readonly query: string }
  | { readonly type: "mention"; readonly id: string }
  | { readonly type: "attachFiles" }
  | { readonly type: "files"; readonly uris: readonly string[] }
  | { readonly type: "terminal"; readonly terminalId: string; readonly entryId: string }
  | { readonly type: "changes"; readonly what: "review" | "keep" | "undo" }
  | { readonly type: "login"; readonly method: string }
  | { readonly type: "editProposal"; readonly askId: string }
  | { readonly type: "restart" }
  | { readonly type: "run"; readonly command: string };

/** What the page keeps over hiding, reload and restart. */
export interface PageState {
  readonly sessionId: string;
  readonly draft: string;
  readonly attachments: readonly Attachment[];
  /** Entries that a person opened (+) or closed (-). */
  readonly opened: readonly string[];
}

export function title(head: SessionHead): string {
  return head.title === "" ? "New session" : head.title;
}
