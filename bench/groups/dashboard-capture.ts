/** A capture in the dashboard: from its rows to the drawing, and a cursor that follows the pointer. */
import type { Page } from 'playwright-core';
import { atSimulator, inBrowser } from '../support/dashboard-site.ts';
import type { BenchOptions } from '../support/group.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';

const devices = 7;
/** Rows of the capture, at least. */
const leastRows = 400;
/** Simulated time that the devices have to settle after the disturbance, ticks. */
const settlingTicks = 60;
const moves = 60;

interface Drawn {
  /** from the last octet of the rows to the frame with the drawing */
  readonly drawnMs: number;
  /** frames in which the cursor stood where the pointer was one frame before */
  readonly followed: number;
  readonly longestFrameMs: number;
}

const drawnMs = (each: Drawn) => each.drawnMs;
const followed = (each: Drawn) => each.followed;
const longestFrameMs = (each: Drawn) => each.longestFrameMs;

/** Runs in the page: opens the capture. */
const drawCapture = `(async () => {
  const painted = new Promise((done) => {
    const watch = new MutationObserver(() => {
      if (document.querySelector('svg.capture [data-curve]') === null) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now())));
    });
    watch.observe(document.body, { childList: true, subtree: true });
  });
  performance.clearResourceTimings();
  location.hash = '#/events/captures/1';
  const atMs = await painted;
  const answers = performance.getEntriesByType('resource').filter(({ name }) => /captures\\/1(\\/rows)?$/.test(name));
  return atMs - Math.max(...answers.map(({ responseEnd }) => responseEnd));
})()`;

/** Runs in the page: moves the pointer by one step in each frame. */
const followPointer = `(async () => {
  const box = document.querySelector('.drawing-box');
  const { left, top, width, height } = box.getBoundingClientRect();
  const instant = () => document.querySelector('[data-test="instant"]').textContent;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let [followed, longestFrameMs, before, atMs] = [0, 0, instant(), await frame()];
  for (let move = 0; move < ${moves}; move += 1) {
    const clientX = left + width * (0.2 + (0.5 * move) / ${moves});
    box.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX, clientY: top + height / 2 }));
    const nextMs = await frame();
    longestFrameMs = Math.max(longestFrameMs, nextMs - atMs);
    if (instant() !== before) followed += 1;
    [before, atMs] = [instant(), nextMs];
  }
  return { followed, longestFrameMs };
})()`;

async function measure(page: Page, origin: string): Promise<Drawn> {
  // the code of the view is loaded
  await page.goto(`${origin}/#/events/captures`);
  await page.locator('a[href="#/events/captures/1"]').first().waitFor();
  const ms = await page.evaluate<number>(drawCapture);
  return { drawnMs: ms, ...(await page.evaluate<Omit<Drawn, 'drawnMs'>>(followPointer)) };
}

/** Makes a capture with enough rows. @returns number of rows */
async function makeCapture(origin: string): Promise<number> {
  const post = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${origin}/api/sim/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  };
  await post('controls/time', { mode: 'paused' });
  // a ramp has a sub-step for each of its steps, where a sag has two
  await post('controls/grid/event', { event: 'frequency_ramp' });
  await post('controls/time/step', { ticks: settlingTicks });
  const capture = (await (await fetch(`${origin}/api/sim/captures/1`)).json()) as { rows: number; state: string };
  if (capture.rows < leastRows || capture.state !== 'complete')
    throw new Error(`the capture is ${capture.state} with ${capture.rows} rows`);
  return capture.rows;
}

/** A capture of seven devices, drawn in browsers of their own. */
export const measureCapture = (
  executable: string,
  options: BenchOptions,
  progress: (text: string) => void,
): Promise<readonly Table[]> =>
  atSimulator(devices, async (origin) => {
    const rows = await makeCapture(origin);
    const all: Drawn[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      progress(`dashboard: capture, round ${round} of ${options.rounds}`);
      all.push(
        await inBrowser(executable, async (browser) =>
          measure(await browser.newPage({ viewport: { width: 1280, height: 900 } }), origin),
        ),
      );
    }
    return [
      {
        title: `dashboard: capture of ${devices} devices with ${rows} rows`,
        head: ['', 'median'],
        rows: [
          ['from its rows to the drawing, ms', figure(medianOf(all, drawnMs))],
          [`moves of ${moves} that the cursor followed in the next frame`, figure(medianOf(all, followed))],
          ['longest frame of them, ms', figure(medianOf(all, longestFrameMs))],
        ],
        notes: ['the page is open at the list of captures, so that its code is loaded; headless, drawn in software'],
      },
      aimTable('dashboard, capture', [
        aimRow('drawing of a capture', medianOf(all, drawnMs), ' ms', { atMost: 100 }),
        aimRow('moves that the cursor followed', medianOf(all, followed), '', { atLeast: moves }),
      ]),
    ];
  });
