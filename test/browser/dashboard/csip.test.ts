import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { SimError } from '../../../src/core/errors.ts';
import { FakeClient, mrid } from '../../api/csip-client/fake-client.ts';
import { apiContext } from '../../support/api-context.ts';
import { findChromium, launch, watch, noChromium } from '../../support/browser.ts';
import type { Watch } from '../../support/browser.ts';
import { testPlant } from '../../support/plant.ts';
import { skip } from '../../support/skip.ts';

/** The interface alone has no telemetry stream. */
const complaintsOf = ({ complaints }: Watch) => complaints.filter((each) => !each.includes('/ws/telemetry'));

describe('dashboard: the client of IEEE 2030.5', () => {
  let browser: Browser;
  let api: Api;
  let origin: string;
  const client = new FakeClient();

  before(async function skipWithoutBrowser() {
    const executable = findChromium();
    if (executable === undefined) skip(this, noChromium);
    browser = await launch(executable);
    api = createApi(apiContext({ plant: testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }), csipClient: client }));
    const { port } = await api.start();
    origin = `http://127.0.0.1:${port}`;
  });
  beforeEach(() => client.asked.splice(0));
  after(async () => {
    await (browser as Browser | undefined)?.close();
    await (api as Api | undefined)?.stop();
  });

  const open = async (part: string): Promise<{ page: Page; seen: Watch }> => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(8000);
    const seen = watch(page, origin);
    await page.goto(`${origin}/#/protocols/csip/${part}`);
    await page.getByRole('navigation', { name: 'Parts of CSIP' }).waitFor();
    return { page, seen };
  };
  const press = async (page: Page, name: string): Promise<number> => {
    const sent = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name, exact: true }).first().click();
    return (await sent).status();
  };

  it('shows state, programs and diagnostics, and each operation reaches the client', async () => {
    const { page, seen } = await open('state');
    await page.getByText('https://127.0.0.1:8443/dcap', { exact: true }).waitFor();
    await page.getByText('Feeder 7').waitFor();
    await page.getByText('the server gives no quality of its Time').waitFor();
    const ask = async (path: string) => (await fetch(`${origin}/api/sim/csip/${path}`)).json();
    const { curves } = (await ask('curves')) as { curves: { href: string; points: { x: number; y: number }[] }[] };
    const row = page.locator('table[aria-label="Curves"] tbody tr');
    await row.filter({ hasText: curves[0]?.href ?? 'none' }).waitFor();
    expect(await row.count()).to.equal(curves.length);
    expect(await row.first().innerText()).to.contain(curves[0]?.points.map(({ x, y }) => `${x}, ${y}`).join('; '));
    const { href } = (await ask('time')) as { href: string };
    await page.getByRole('region', { name: 'Clock of the server' }).getByText(href, { exact: true }).waitFor();
    const names = ['Connect', 'Disconnect', 'Reconnect', 'Rediscover', 'Poll'];
    for (const name of names) expect(await press(page, name), name).to.be.oneOf([200, 202]);
    await page.getByLabel('Duration, s').fill('60');
    expect(await press(page, 'Lose communication')).to.equal(200);
    expect(await press(page, 'Restore communication')).to.equal(200);
    expect(client.asked.map(([name]) => name)).to.deep.equal([
      ...names.map((name) => name.toLowerCase()),
      ...['communication', 'communication'],
    ]);
    expect(complaintsOf(seen)).to.deep.equal([]);
    await page.close();
  });

  it('shows why an operation was refused', async () => {
    const { page } = await open('state');
    client.failure = new SimError('UNKNOWN_RESOURCE', 'the server has no such thing');
    try {
      expect(await press(page, 'Poll')).to.be.within(400, 499);
      await page.getByRole('alert').filter({ hasText: 'the server has no such thing' }).waitFor();
    } finally {
      client.failure = null;
    }
    await page.close();
  });

  it('shows events with their states on the time line, and keeps the chosen one', async () => {
    const { page, seen } = await open('events');
    await page.locator('.timeline g[data-state="active"]').waitFor();
    expect(await page.locator('.timeline g[data-state="scheduled"]').textContent()).to.contain('scheduled');
    expect(await page.locator('.timeline g[data-state="active"] circle').count()).to.equal(1);
    await page.getByRole('button', { name: mrid, exact: true }).click();
    await page.getByText('<DERControl/>').waitFor();
    const { responses } = (await (await fetch(`${origin}/api/sim/csip/responses`)).json()) as { responses: unknown[] };
    expect(await page.locator('table[aria-label="Responses"] tbody tr').count()).to.equal(responses.length);
    await page.reload();
    await page.getByText('<DERControl/>').waitFor();
    expect(await press(page, 'Opt out')).to.equal(200);
    expect(client.asked).to.deep.equal([['opt', mrid, false, 0]]);
    expect(complaintsOf(seen)).to.deep.equal([]);
    await page.close();
  });

  it('sends reports, shows messages, and changes only the settings that differ', async () => {
    const { page, seen } = await open('reports');
    await page.getByText('modesSupported').waitFor();
    await press(page, 'Send capability');
    await press(page, 'Send readings');
    await page.getByRole('link', { name: 'Messages', exact: true }).click();
    await page.getByText('https://127.0.0.1:8443/dcap').first().click();
    await page.getByLabel('Answer: body').getByText('urn:ieee:std:2030.5:ns').waitFor();
    await page.getByRole('link', { name: 'Client', exact: true }).click();
    await page.getByLabel('Poll rate, s').fill('120');
    await press(page, 'Change settings');
    expect(client.asked.map(([name]) => name)).to.deep.equal(['postDer', 'postReadings', 'configure']);
    expect(client.asked[2]).to.deep.equal(['configure', { pollRateS: 120 }, 0]);
    await page.getByLabel('Key (PEM)').waitFor();
    expect(complaintsOf(seen)).to.deep.equal([]);
    await page.close();
  });
});
