/** The views of the dashboard, as tests walk through them. */
import type { Page, Request } from 'playwright-core';
import { startDashboard } from './dashboard.ts';
import type { Dashboard, Shown } from './dashboard.ts';
import { joinPeers } from './dashboard-peers.ts';
import { judgedPeerId, judgePeer } from './judged-peer.ts';

/** One device of each kind, by its type. */
export const site = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
/** Address of each view and tab, and the key after `g` where it has one. */
export const views: readonly (readonly [path: string, key?: string])[] = [
  ['overview', 'o'],
  ['devices', 'd'],
  ['inputs', 'i'],
  ['events', 'e'],
  ['charts', 'c'],
  ['protocols', 'p'],
  ['compare', 'm'],
  ['scenarios', 't'],
  ...['weather', 'site', 'faults', 'clock'].map((tab) => [`inputs/${tab}`] as const),
  ['events/timeline?kind=command'],
  ['events/timeline?wall=1&entry=1'],
  ['events/captures'],
  ['events/captures/1'],
  ['events/captures/2?with=1'],
  ['events/log'],
  [`compare/report-cards/${judgedPeerId}`],
  [`compare/report-cards/${judgedPeerId}?finding=t_write`],
  ...['side-by-side', 'answered', 'report-cards', 'rules'].map((tab) => [`compare/${tab}`] as const),
  ...['grid-support', 'charts', 'registers', 'faults', 'details'].map((tab) => [`devices/0/${tab}`] as const),
  ['devices/1/cells'],
  ['devices/5/sessions'],
  ['devices/0/grid-support/volt-watt'],
  ['settings'],
  ['settings?settings-find=_'],
  ['settings?settings-part=certificates&certificate=device0'],
  ['settings?settings-part=file'],
  ['state'],
  ['changes'],
  ['scenarios/runs'],
  ['scenarios/editor'],
  ['simulator'],
  ['inputs?api=1'],
  ['devices/1?api=1'],
  ...['modbus', 'csip', 'ocpp', 'dnp3', 'sunspec-client'].map((tab) => [`protocols/${tab}`] as const),
  ...['csip', 'ocpp', 'dnp3'].flatMap((name) => [
    [`protocols/${name}/connect`] as const,
    [`protocols/${name}/messages?${name}-message=2`] as const,
    [`protocols/${name}/sequence?${name}-message=2`] as const,
  ]),
  ['protocols/modbus/messages?modbus-message=2'],
  ['protocols/modbus/transactions'],
  ...site.map((_type, index) => [`devices/${index}/picture`] as const),
];

/**
 * A daemon with a device of each kind, certificates, a judged peer, two captures and some ticks; undefined: there is no
 * browser.
 * @param withPeers true: all protocols are on, each at a peer that has said something
 */
export async function startSite(withPeers = false): Promise<Dashboard | undefined> {
  const dashboard = await startDashboard(site);
  if (dashboard === undefined) return undefined;
  await dashboard.post('certificates/generate');
  judgePeer(dashboard.app.findings, null);
  await dashboard.step(4);
  await dashboard.post('controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.5, duration_s: 0.5 } });
  await dashboard.step(30);
  await dashboard.post('controls/grid/event', { event: 'swell', parameters: { level_pu: 1.15, duration_s: 0.5 } });
  await dashboard.step(30);
  if (!withPeers) return dashboard;
  const stopPeers = await joinPeers(dashboard).catch(async (error: unknown) => {
    await dashboard.stop();
    throw error;
  });
  return {
    ...dashboard,
    async stop() {
      await dashboard.stop();
      await stopPeers();
    },
  };
}

const unanswered = new WeakMap<Page, Set<Request>>();

/** Requests of the page without an answer, from the first call on. */
function unansweredOf(page: Page): ReadonlySet<Request> {
  const kept = unanswered.get(page);
  if (kept !== undefined) return kept;
  const requests = new Set<Request>();
  unanswered.set(page, requests);
  page.on('request', (request) => requests.add(request));
  page.on('requestfinished', (request) => requests.delete(request));
  page.on('requestfailed', (request) => requests.delete(request));
  return requests;
}

/** Waits until the view stands: its code is loaded, and its content has come. */
export async function show(page: Page, path: string): Promise<void> {
  const requests = unansweredOf(page);
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${path}`)}`);
  await page.waitForLoadState('networkidle');
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' });
  // the page counts as idle once for good, and what it reads later has a frame to be drawn
  do await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  while (requests.size > 0);
}

/** A view in the theme of the system, which the page reads when it is loaded. */
export async function openIn(dashboard: Dashboard, colorScheme: 'light' | 'dark', hash?: string): Promise<Shown> {
  const shown = await dashboard.open(hash, (page) => page.emulateMedia({ colorScheme }));
  await shown.page.waitForSelector(`[data-theme="${colorScheme}"]`);
  return shown;
}
