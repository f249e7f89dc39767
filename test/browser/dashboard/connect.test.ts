/** The way from a fresh start to a peer, counted in what the user does. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Download, Locator, Page } from 'playwright-core';
import { HeadEnd, sfdiOf } from '../../csip/head-end/head-end.ts';
import { Central } from '../../ocpp/central/central.ts';
import { noChromium } from '../../support/browser.ts';
import { startDashboard } from '../../support/dashboard.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { openByHand } from '../../support/hand.ts';
import { headEndPki } from '../../support/head-end.ts';
import { skip } from '../../support/skip.ts';

const maxActions = 10;
/** The steps stand below each other. */
const maxScrolls = 1;

const textOf = async (file: Download): Promise<string> => readFile(await file.path(), 'utf8');

/** A field of the steps. */
const field = (page: Page, name: string): Locator => page.locator(`.steps [name="${name}"]`);

describe('dashboard: from a fresh start to a peer', () => {
  let dashboard: Dashboard;

  beforeEach(async function skipWithoutBrowser() {
    const started = await startDashboard(['PV-3Phase']);
    if (started === undefined) skip(this, noChromium);
    dashboard = started;
  });
  afterEach(() => (dashboard as Dashboard | undefined)?.stop());

  for (const [version, subprotocol, started] of [
    ['OCPP 1.6', 'ocpp1.6', 'StartTransaction'],
    ['OCPP 2.0.1', 'ocpp2.0.1', 'TransactionEvent'],
  ] as const) {
    it(`${version}: a charging session at a central system`, async () => {
      const central = await Central.open({ subprotocols: [subprotocol] });
      try {
        const { page, seen, hand } = await openByHand(dashboard);
        await hand.follow('Protocols');
        await hand.follow('OCPP');
        await hand.type(field(page, 'id'), 'CP-LAB');
        await hand.press('Add a charging station');
        await hand.type(field(page, 'ocpp_csms_url'), central.url);
        await hand.choose(field(page, 'ocpp_version'), version);
        await hand.press('Connect');
        await page.getByText('accepted', { exact: true }).first().waitFor();
        await hand.press('Plug in a vehicle');
        // the station presents a token by itself; charging begins after a delay of the simulated clock
        await central.station('CP-LAB').next(started);
        await dashboard.step(10);
        await page.locator('[data-test="connector-status"]').getByText('charging', { exact: true }).waitFor();
        await hand.expectAtMost(maxActions, maxScrolls);
        expect(seen.complaints).to.deep.equal([]);
        await page.close();
      } finally {
        await dashboard.stop();
        await central.close();
      }
    });
  }

  it('IEEE 2030.5: a registered client at a head-end', async function skipWithoutNames() {
    const { settings } = await dashboard.get('settings');
    const { allowed } = settings.find(({ key }: { key: string }) => key === 'csip_cert');
    if (!String(allowed).includes('certificate:NAME')) skip(this, 'settings choose no certificate by its name');
    const { page, seen, hand } = await openByHand(dashboard);
    await hand.follow('Protocols');
    await hand.follow('CSIP');
    await hand.press('Generate test certificates');
    const lfdi = await page.locator('[data-test="LFDI"]').innerText();
    expect(await page.locator('[data-test="SFDI"]').innerText()).to.equal(String(sfdiOf(lfdi)));
    const saved = page.waitForEvent('download');
    await hand.press('Download Authority of the client');
    const [ca, pki] = [await textOf(await saved), await headEndPki()];
    const headEnd = await HeadEnd.open({ tls: { identity: pki.server, ca }, nowMs: Date.now });
    try {
      headEnd.register(lfdi);
      headEnd.program();
      await hand.type(field(page, 'csip_server_port'), String(headEnd.port));
      await hand.type(field(page, 'authority_pem'), pki.root.cert);
      await hand.press('Connect');
      await page.locator('.steps').getByText('running', { exact: true }).waitFor();
      await page.locator('.steps').getByText('/edev/1', { exact: false }).waitFor();
      expect(headEnd.requests.map(({ lfdi: sender }) => sender)).to.include(lfdi);
      await hand.expectAtMost(maxActions, maxScrolls);
      expect(seen.complaints).to.deep.equal([]);
      await page.close();
    } finally {
      await dashboard.stop();
      await headEnd.close();
    }
  });
});
