/**
 * The dashboard in a browser: processor time beside an empty page with the same stream, first paint, long tasks, size of
 * the load.
 */
import { gzipSync } from 'node:zlib';
import type { CDPSession, Page } from 'playwright-core';
import { findChromium } from '../../test/support/browser.ts';
import { filesOfFirstLoad } from '../../test/support/page-files.ts';
import { atSimulator, inBrowser } from '../support/dashboard-site.ts';
import type { BenchOptions, Group } from '../support/group.ts';
import { sleep } from '../support/processes.ts';
import { medianOf, medianRatio } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';
import { measureCapture } from './dashboard-capture.ts';

/** Sites with the share of a core that the page may take, percent. */
const sites = [
  { devices: 100, atMostPct: 8 },
  { devices: 1000, atMostPct: 30 },
] as const;
const kb = 1000;

interface Measured {
  /** of all processes of the browser, of one core */
  readonly cpuPct: number;
  readonly paintMs: number;
  /** tasks of more than 50 ms after the first 3 s, ms */
  readonly longTasksMs: readonly number[];
}

const cpuPct = (m: Measured) => m.cpuPct;
const paintMs = (m: Measured) => m.paintMs;
const longTasks = (m: Measured) => m.longTasksMs.length;
const longestTaskMs = (m: Measured) => Math.max(0, ...m.longTasksMs);

/** Time that a page may take to be complete, ms. */
const startMs = 3000;

/** Runs before the page: keeps its tasks of more than 50 ms, which is what browsers call a long task. */
const keepLongTasks = `globalThis.longTasks = [];
new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries()))
  .observe({ type: 'longtask', buffered: true });`;
const lateLongTasks = `globalThis.longTasks
  .filter(({ startTime }) => startTime >= ${startMs})
  .map(({ duration }) => duration)`;

async function cpuSeconds(session: CDPSession): Promise<number> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** Null where the page has not painted within 5 s. */
const firstPaint = `new Promise((done) => {
  const look = (left) => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    if (paint || left === 0) done(paint ? paint.startTime : null);
    else setTimeout(look, 50, left - 1);
  };
  look(100);
})`;

/** Opens the stream, and drops each message after parsing it. */
const dropStream = `new Promise((done) => {
  const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + '/api/sim/ws/telemetry');
  socket.onmessage = ({ data }) => { globalThis.last = JSON.parse(data).tick; done(); };
})`;

async function openDashboard(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/#/overview`);
  await page.waitForSelector('[data-test="clock"]');
}

async function openEmpty(page: Page, origin: string): Promise<void> {
  // a real answer of the simulator: a made-up one has no address, and Chromium lets such a page reach no local host
  await page.goto(`${origin}/pages.css`);
  await page.evaluate(dropStream);
}

const measure = (executable: string, open: (page: Page) => Promise<void>, { quick }: BenchOptions): Promise<Measured> =>
  inBrowser(executable, async (browser) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.addInitScript(keepLongTasks);
    await open(page);
    const paint = await page.evaluate<number | null>(firstPaint);
    await sleep(quick ? startMs : 5000);
    const session = await browser.newBrowserCDPSession();
    const [before, begin] = [await cpuSeconds(session), performance.now()];
    await sleep(quick ? 4500 : 15_000);
    const spent = (await cpuSeconds(session)) - before;
    const tookS = (performance.now() - begin) / 1000;
    const longTasksMs = await page.evaluate<readonly number[]>(lateLongTasks);
    return { cpuPct: (spent / tookS) * 100, paintMs: paint ?? NaN, longTasksMs };
  });

/** What a first load takes after gzip. */
async function loadedBytes(origin: string): Promise<number> {
  const text = async (path: string) => (await fetch(origin + path)).text();
  const parts = await Promise.all(['/', ...(await filesOfFirstLoad(text))].map(text));
  return parts.reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
}

/** The overview of a site beside an empty page. */
const measureSite = (
  executable: string,
  { devices, atMostPct }: (typeof sites)[number],
  options: BenchOptions,
  progress: (text: string) => void,
): Promise<readonly Table[]> =>
  atSimulator(devices, async (origin) => {
    const [own, empty]: [Measured[], Measured[]] = [[], []];
    for (let round = 1; round <= options.rounds; round += 1) {
      progress(`dashboard: ${devices} devices, round ${round} of ${options.rounds}`);
      own.push(await measure(executable, (page) => openDashboard(page, origin), options));
      empty.push(await measure(executable, (page) => openEmpty(page, origin), options));
    }
    const row = (name: string, rounds: readonly Measured[]) => [
      name,
      figure(medianOf(rounds, cpuPct)),
      figure(medianOf(rounds, paintMs)),
      figure(medianOf(rounds, longTasks)),
      figure(medianOf(rounds, longestTaskMs)),
    ];
    const size = (await loadedBytes(origin)) / kb;
    return [
      {
        title: `dashboard: overview of ${devices} devices at ticks of 1.5 s`,
        head: ['page', 'CPU % of a core', 'first paint ms', 'long tasks', 'longest ms'],
        rows: [
          row('overview', own),
          row('empty, with a message for each device', empty),
          ['ratio', figure(medianRatio(own, empty, cpuPct)), figure(medianRatio(own, empty, paintMs)), '', ''],
        ],
        notes: [
          'CPU of all processes of the browser; simulator and browser share the machine',
          'long tasks take more than 50 ms; counted after the first 3 s, with the rest of the code loaded in between',
        ],
      },
      aimTable(`dashboard, ${devices} devices`, [
        aimRow('CPU of the overview', medianOf(own, cpuPct), ' % of a core', { atMost: atMostPct }),
        aimRow('first paint', medianOf(own, paintMs) / 1000, ' s', { atMost: 1 }),
        aimRow('long tasks after 3 s', medianOf(own, longTasks), '', { atMost: 0 }),
        aimRow('first load, gzip', size, ' kB', { atMost: 170 }),
      ]),
    ];
  });

export const dashboardGroup: Group = {
  name: 'dashboard',
  async run(options, progress): Promise<readonly Table[]> {
    const executable = findChromium();
    if (executable === undefined)
      return [{ title: 'dashboard', head: [], rows: [], notes: ['skipped: no Chromium found (set CHROMIUM)'] }];
    const tables: Table[] = [...(await measureCapture(executable, options, progress))];
    for (const site of sites) tables.push(...(await measureSite(executable, site, options, progress)));
    return tables;
  },
};
