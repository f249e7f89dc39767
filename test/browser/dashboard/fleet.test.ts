/** The dashboard of a gateway with two workers, on the NATS server of the machine. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import { axeFindings } from '../../support/axe.ts';
import { misfits, touchMisfits } from '../../support/dashboard-fit.ts';
import { findChromium, launch, noChromium, watch } from '../../support/browser.ts';
import type { Watch } from '../../support/browser.ts';
import { skip } from '../../support/skip.ts';
import { describeWith, installedPath } from '../../interop/support/peers.ts';

/** A gateway of the build whose address is known. */
async function startGateway(): Promise<{ readonly child: ChildProcess; readonly origin: string }> {
  const server = process.env['NATS_SERVER'] ?? installedPath('nats');
  const words = ['dist/main.js', 'gateway', '--workers', '2', '-N', '6', '-wp', '0', '--nats_server', server];
  const child = spawn(process.execPath, [...words, '--mb_enable', 'no', '--tick', '0.2', '--log_level', 'error'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_V8_COVERAGE: '' },
  });
  for await (const line of createInterface(child.stdout)) {
    const port = /^ *HTTP .*?:(\d+)\//.exec(line)?.[1];
    if (port !== undefined) return { child, origin: `http://127.0.0.1:${port}` };
  }
  throw new Error('the gateway has ended before it was ready');
}

describeWith(['nats'], 'dashboard: the fleet of a gateway', function () {
  this.timeout(60_000);
  let child: ChildProcess | undefined;
  let origin: string;
  let browser: Browser | undefined;
  let page: Page;
  let seen: Watch;

  before(async function skipWithoutBrowser() {
    const executable = findChromium();
    if (executable === undefined) skip(this, noChromium);
    [browser, { child, origin }] = await Promise.all([launch(executable), startGateway()]);
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(20_000);
    seen = watch(page, origin);
    await page.goto(`${origin}/#/fleet`);
    await page.getByText('● live').nth(1).waitFor();
  });

  after(async () => {
    await browser?.close();
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  });

  it('shows each shard with its range, and all devices as cells', async () => {
    const tiles = page.locator('.shard');
    expect((await tiles.locator('h3').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).to.deep.equal([
      'w0 ● live',
      'w1 ● live',
    ]);
    expect(await tiles.nth(1).innerText()).to.contain('devices 3 to 5');
    const map = page.getByRole('application', { name: 'Map of devices' });
    await page.getByRole('heading', { name: 'Map of 6 devices' }).waitFor();
    expect(await map.locator('.label').nth(1).innerText()).to.match(/^w1: devices 3 to 5, .* old when read$/);
    await page.waitForFunction('document.querySelector(".fleet-map canvas").dataset.drawMs !== undefined');
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('fits a phone and a zoom of 200 % in the dark and in forced colours', async () => {
    const wrongAt: Record<string, readonly string[]> = {};
    for (const forcedColors of ['none', 'active'] as const) {
      await page.emulateMedia({ colorScheme: 'dark', forcedColors, reducedMotion: 'reduce' });
      await page.reload();
      await page.locator('.fleet-map canvas').waitFor();
      for (const width of [390, 640, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        const wrong = [...(await misfits(page, width)), ...(await axeFindings(page))];
        if (wrong.length > 0) wrongAt[`${width} px, forced colours ${forcedColors}`] = wrong;
      }
    }
    expect(wrongAt).to.deep.equal({});
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', reducedMotion: 'no-preference' });
  });

  it('has targets for a finger', async () => {
    if (browser === undefined) throw new Error('there is no browser');
    const phone = await browser.newPage({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
    await phone.goto(`${origin}/#/fleet`);
    await phone.locator('.fleet-map canvas').waitFor();
    expect(await touchMisfits(phone)).to.deep.equal([]);
    await phone.close();
  });

  it('moves over the cells by keys, from shard to shard, and opens the page of a device', async () => {
    const map = page.getByRole('application', { name: 'Map of devices' });
    await map.focus();
    for (const key of ['End', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await map.getByText(/^Device 4, shard w1: /).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.title h1').filter({ hasText: '4' }).waitFor();
    expect(new URL(page.url()).hash).to.equal('#/devices/4/picture');
    await page.locator('.waterfall').first().waitFor();
  });

  it('finds a device by its index', async () => {
    await page.evaluate(`location.hash = '#/fleet'`);
    await page.getByRole('searchbox', { name: 'Find a device' }).fill('5');
    await page.keyboard.press('Enter');
    await page.waitForURL(/devices/);
    expect(new URL(page.url()).hash).to.equal('#/devices/5/picture');
  });

  it('says in the place of a view what a gateway does not serve', async () => {
    await page.evaluate(`location.hash = '#/settings'`);
    await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' });
    await page
      .locator('main')
      .getByText(/A gateway shows this for one shard only/)
      .first()
      .waitFor();
    expect(await page.locator('main').innerText()).to.contain('open the dashboard of the shard');
  });

  it('stops a shard once that is confirmed', async () => {
    await page.evaluate(`location.hash = '#/fleet'`);
    page.once('dialog', (dialog) => void dialog.accept());
    const answer = page.waitForResponse(/fleet\/shards\/w1\/stop$/);
    await page.getByRole('button', { name: 'Stop w1' }).click();
    expect((await answer).status()).to.equal(202);
    // refusals of a gateway are no faults of the page
    expect(seen.complaints.filter((text) => !/\b(404|409|422|501|503)\b/.test(text))).to.deep.equal([]);
  });
});
