/** The dashboard before judges of pages: its HTML as it stands in the browser, its accessibility, and its layout. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findChromium, noChromium } from '../support/browser.ts';
import { startDashboard } from '../support/dashboard.ts';
import type { Dashboard } from '../support/dashboard.ts';
import { skip } from '../support/skip.ts';
import { describeWith, installedPath } from './support/peers.ts';

const views = [
  'overview',
  'devices',
  'devices/0/picture',
  'devices/1/picture',
  'devices/0/grid-support',
  'devices/0/registers',
  'devices/0/details',
  'inputs/grid',
  'inputs/weather',
  'inputs/faults',
  'events/timeline',
  'events/captures',
  'charts',
  'protocols',
  'protocols/modbus/messages',
  'compare',
  'scenarios',
  'settings',
  'inputs/grid?api=1',
];

const run = promisify(execFile);

/** Upper end of what Core Web Vitals call good. */
const maxShift = 0.1;

interface Message {
  readonly url: string;
  readonly type: string;
  readonly message: string;
  readonly extract?: string;
}

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
  let folder: string;

  before(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase', 'Batt-3Phase', 'EVSE']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
    folder = mkdtempSync(join(tmpdir(), 'derbench-pages-'));
    await dashboard.step(4);
  });
  after(async () => {
    await (dashboard as Dashboard | undefined)?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  describeWith(['vnu'], 'before the Nu HTML checker', () => {
    it('is valid HTML as it is served, and in every view', async () => {
      const fileOf = (name: string) => join(folder, `${name.replaceAll(/\W+/g, '-')}.html`);
      writeFileSync(fileOf('served'), await (await fetch(`${dashboard.origin}/`)).text());
      const { page } = await dashboard.open();
      for (const view of views) {
        await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
        await page.waitForLoadState('networkidle');
        await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' });
        writeFileSync(fileOf(view), `${await page.content()}\n`);
      }
      await page.close();
      const jar = join(installedPath('pageJudges'), '../vnu-jar/build/dist/vnu.jar');
      const files = ['served', ...views].map(fileOf);
      const { stderr } = await run('java', ['-jar', jar, '--exit-zero-always', '--format', 'json', ...files], {
        maxBuffer: 64 * 1024 * 1024,
      });
      const { messages } = JSON.parse(stderr) as { readonly messages: readonly Message[] };
      const remarks = messages.map(
        ({ url, type, message, extract }) => `${url.replace(/.*\//, '')} ${type}: ${message} ${extract ?? ''}`,
      );
      expect(remarks).to.deep.equal([]);
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
