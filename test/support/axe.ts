/** What axe-core finds in a page, of every level. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Rules about colours, the only ones whose result depends on the theme. */
export const colourRules = ['color-contrast', 'link-in-text-block'];

/**
 * The code is injected by the debugger, which no policy of the page hinders.
 * @param rules default: all
 */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(source);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const violations = await page.evaluate<Violation[]>(`axe.run(${options}).then(({ violations }) => violations)`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
