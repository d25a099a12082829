// VS Code's quick input, as a person uses it: the command palette and every list.
//
// There is one widget for all of them, and it is still there while the last list fades. So a list is
// known by what its field says, and one that did not come is opened again.

import type { Locator, Page } from "playwright-core";

const PALETTE = /name of a command/;
const TRIES = 6;
const PATIENCE = 8_000;

export class QuickInput {
  constructor(private readonly page: Page) {}

  /** Runs a command of the palette. */
  async command(title: string): Promise<void> {
    await this.choose(PALETTE, title, () => this.page.keyboard.press("F1"), ">");
  }

  /** Opens a list and takes the entry that begins with the label. */
  async choose(
    says: RegExp,
    label: string,
    open: () => Promise<unknown>,
    prefix = "",
    /** When the list finds by other words than those of its entries. */
    entry = beginning(label),
  ): Promise<void> {
    const field = this.field(says);
    for (let tries = 1; ; tries++) {
      try {
        await this.opened(says, open);
        await field.fill(`${prefix}${label}`, { timeout: PATIENCE });
        await this.focus(entry, field);
        await field.press("Enter", { timeout: PATIENCE });
        // Until it has gone nothing may be typed: it would still be typed here.
        await field.waitFor({ state: "hidden", timeout: PATIENCE });
        return;
      } catch (error) {
        if (tries === TRIES) throw error;
      }
    }
  }

  /** The rows of a list, which stays open. */
  async rows(says: RegExp, open: () => Promise<unknown>): Promise<Locator> {
    for (let tries = 1; ; tries++) {
      try {
        await this.opened(says, open);
        return this.page.locator(".quick-input-widget:visible .monaco-list-row");
      } catch (error) {
        if (tries === TRIES) throw error;
      }
    }
  }

  private field(says: RegExp): Locator {
    return this.page.locator(".quick-input-widget:not([inert]):visible").getByPlaceholder(says);
  }

  private async opened(says: RegExp, open: () => Promise<unknown>): Promise<void> {
    if (!(await this.field(says).isVisible())) await open();
    await this.field(says).waitFor({ timeout: PATIENCE });
  }

  /** The best match has the focus; what was used lately may stand before it. */
  private async focus(entry: RegExp, field: Locator): Promise<void> {
    const row = this.page
      .locator(".quick-input-widget:visible .monaco-list-row")
      .filter({ has: this.page.locator(".label-name", { hasText: entry }) });
    await row.first().waitFor({ timeout: PATIENCE });
    const focused = row.and(this.page.locator(".focused"));
    for (let steps = 0; steps < 8 && (await focused.count()) === 0; steps++)
      await field.press("ArrowDown", { timeout: PATIENCE });
    await focused.waitFor({ timeout: PATIENCE });
  }
}

function beginning(label: string): RegExp {
  return new RegExp(`^\\W*${label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`);
}
