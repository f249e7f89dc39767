/** The dashboard before judges of pages: its HTML as it stands in the browser, its accessibility, and its layout. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findChromium, noChromium } from '../support/browser.ts';
import type { Dashboard } from '../support/dashboard.ts';
import { show, startSite, views } from '../support/dashboard-views.ts';
import { skip } from '../support/skip.ts';
import { remarksOn } from './support/html-checker.ts';
import { describeWith, installedPath } from './support/peers.ts';

const run = promisify(execFile);

/** Upper end of what Core Web Vitals call good. */
const maxShift = 0.1;

interface Audit {
  readonly title: string;
  readonly score: number | null;
  readonly numericValue?: number;
  readonly details?: { readonly items?: readonly unknown[] };
}

interface Result {
  readonly categories: { readonly accessibility: { readonly score: number } };
  readonly audits: Readonly<Record<string, Audit>>;
}

describe('the dashboard', function () {
  this.timeout(300_000);
  let dashboard: Dashboard;

  before(async function skipWithoutBrowser() {
    const started = await startSite(true);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });
  after(() => (dashboard as Dashboard | undefined)?.stop());

  describeWith(['vnu'], 'before the Nu HTML checker', () => {
    it('is valid HTML as it is served, and in every view', async () => {
      const documents = new Map([['served', await (await fetch(`${dashboard.origin}/`)).text()]]);
      const { page } = await dashboard.open();
      for (const [view] of views) {
        await show(page, view);
        documents.set(view, `${await page.content()}\n`);
      }
      await page.close();
      expect(await remarksOn(documents)).to.deep.equal([]);
    });
  });

  describeWith(['lighthouse'], 'before Lighthouse', () => {
    for (const view of ['overview', 'devices/0/picture', 'inputs/grid', 'charts'])
      it(`${view}: accessibility 100, and little moves while it is loaded`, async () => {
        const { stdout } = await run(
          join(installedPath('pageJudges'), 'lighthouse'),
          [
            `${dashboard.origin}/#/${view}`,
            '--quiet',
            '--output=json',
            '--preset=desktop',
            '--throttling-method=provided',
            // streams never end, so that the network is never quiet
            '--max-wait-for-load=5000',
            '--only-categories=accessibility',
            '--only-audits=cumulative-layout-shift',
            '--chrome-flags=--headless=new --no-sandbox --disable-gpu',
          ],
          { env: { ...process.env, CHROME_PATH: findChromium() }, maxBuffer: 64 * 1024 * 1024 },
        );
        const { categories, audits } = JSON.parse(stdout) as Result;
        const { 'cumulative-layout-shift': shift, ...others } = audits;
        const failed = Object.entries(others).filter(([, { score }]) => score !== null && score < 1);
        expect(failed.map(([id, { title, details }]) => [id, title, details?.items])).to.deep.equal([]);
        expect(categories.accessibility.score).to.equal(1);
        expect(shift?.numericValue).to.be.below(maxShift);
      });
  });
});
