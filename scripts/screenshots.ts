/**
 * Writes `docs/images/dashboard-VIEW-SCHEME.png`: views of the dashboard over the mixed site while things happen.
 * `npm run screenshots [-- FOLDER]`; needs Chromium (`CHROMIUM` names one) and `npm run build` before.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { findChromium, launch } from '../test/support/browser.ts';
import { startSimulator } from '../test/support/process.ts';

const folder = process.argv[2] ?? fileURLToPath(new URL('../docs/images', import.meta.url));

interface Device {
  readonly device_index: number;
  readonly asset_type: string;
  readonly charge_point_id: string | null;
}

async function ask<T>(origin: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(`${origin}/api/sim/${path}`, init);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** A sunny noon, a vehicle that charges, a battery that is forced, and a high voltage that volt-watt answers. */
async function makeThingsHappen(origin: string): Promise<readonly Device[]> {
  const { devices } = await ask<{ devices: readonly Device[] }>(origin, 'devices');
  const step = (ticks: number) => ask(origin, 'controls/time/step', { ticks });
  await step(40);
  const pv = devices.find(({ asset_type }) => asset_type === 'pv');
  const battery = devices.find(({ asset_type }) => asset_type === 'battery');
  const station = devices.find(({ charge_point_id }) => charge_point_id !== null)?.charge_point_id;
  if (station) {
    const connector = `evse/${encodeURIComponent(station)}/connectors/1`;
    // a session begins by itself with the vehicle
    await ask(origin, `${connector}/plug`, { ev_side: true, evse_side: true });
  }
  if (battery) await ask(origin, `controls/battery?device=${battery.device_index}`, { mode: 'charge' }).catch(said);
  await step(120);
  if (pv) await ask(origin, `grid-support/volt-watt?device=${pv.device_index}`, { enabled: true });
  await ask(origin, 'controls/grid', { voltage_pu: 1.08 });
  await step(240);
  await ask(origin, 'controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.42, duration_s: 1.2 } });
  await step(60);
  return devices;
}

/** A site without one of these is still worth its pictures. */
function said(error: unknown): void {
  process.stderr.write(`screenshots: ${String(error)}\n`);
}

function viewsOf(devices: readonly Device[]): Readonly<Record<string, string>> {
  const index = (kind: string) => devices.find(({ asset_type }) => asset_type === kind)?.device_index ?? 0;
  return {
    overview: 'overview',
    charts: `charts?device=${index('pv')}`,
    'grid-support': `devices/${index('pv')}/grid-support/volt-watt`,
    battery: `devices/${index('battery')}/picture`,
    faults: 'inputs/faults',
    registers: `devices/${index('pv')}/registers?model=706`,
    capture: 'events/captures/2',
    protocols: 'protocols',
    compare: `compare/all?device=${index('evse')}`,
  };
}

async function shoot(browser: Browser, origin: string, views: Readonly<Record<string, string>>): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [name, hash] of Object.entries(views)) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
      await page.goto(`${origin}/#/${hash}`);
      await page.waitForSelector('[data-test="clock"]');
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: join(folder, `dashboard-${name}-${colorScheme}.png`), animations: 'disabled' });
      await page.close();
    }
  }
}

const executable = findChromium();
if (executable === undefined) throw new Error('no Chromium found (set CHROMIUM)');
await mkdir(folder, { recursive: true });
const simulator = await startSimulator(['--config', 'mixed-site', '--start_paused', 'yes']);
const browser = await launch(executable);
try {
  const origin = `http://127.0.0.1:${simulator.httpPort}`;
  await shoot(browser, origin, viewsOf(await makeThingsHappen(origin)));
} finally {
  await browser.close();
  await simulator.stop();
}
