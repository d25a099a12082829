// Tokens and money in a few words.

import type { TokenUsage } from "../protocol.gen";

export function usageText(usage: TokenUsage): string {
  const parts: string[] = [];
  if (usage.contextUsed != null && usage.contextSize != null && usage.contextSize > 0) {
    const percent = Math.round((100 * usage.contextUsed) / usage.contextSize);
    parts.push(`${short(usage.contextUsed)} of ${short(usage.contextSize)} (${percent} %)`);
  } else if (usage.totalTokens != null) {
    parts.push(`${short(usage.totalTokens)} tokens`);
  }
  if (usage.cost != null && usage.cost > 0) parts.push(money(usage.cost, usage.currency ?? ""));
  return parts.join(" · ");
}

export function short(number: number): string {
  if (number < 1000) return String(number);
  if (number < 1_000_000) return `${trimmed(number / 1000)}k`;
  return `${trimmed(number / 1_000_000)}M`;
}

function trimmed(number: number): string {
  return number < 10 ? number.toFixed(1).replace(/\.0$/, "") : String(Math.round(number));
}

function money(amount: number, currency: string): string {
  const digits = amount < 1 ? 3 : 2;
  return currency === "USD" || currency === ""
    ? `$${amount.toFixed(digits)}`
    : `${amount.toFixed(digits)} ${currency.slice(0, 5)}`;
}
