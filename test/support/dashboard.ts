/** The dashboard of a whole simulator in a browser. `npm run build:ui` (or the build) comes before. */
import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import type { App, AppOptions } from '../../src/app/start-stop.ts';
import { findChromium, launch, watch } from './browser.ts';
import type { Watch } from './browser.ts';
import { startApp } from './running-app.ts';

const built = new URL('../../dist/ui/index.html', import.meta.url);

export interface Shown {
  readonly page: Page;
  readonly seen: Watch;
}

/** Answers are read as they come: a test names what it looks at. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Answer = any;

export interface Dashboard {
  readonly app: App;
  readonly origin: string;
  readonly browser: Browser;
  /**
   * Opens a view in a page of its own.
   * @param hash such as `#/grid-support?device=1`
   * @param prepare called before the page loads
   */
  open(hash?: string, prepare?: (page: Page) => Promise<unknown>): Promise<Shown>;
  /** GET below `/api/sim/` */
  get(path: string): Promise<Answer>;
  /** POST below `/api/sim/`; rejects unless the answer is a success */
  post(path: string, body?: unknown): Promise<Answer>;
  /** Ticks at once, while the clock stands. */
  step(ticks?: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a simulator whose clock stands, and a browser; undefined without a browser.
 * @param types one device of each; null: those of the flags
 * @throws Error when the dashboard is not built
 */
export async function startDashboard(
  types: readonly string[] | null = ['PV-3Phase'],
  flags: readonly string[] = [],
  options: AppOptions & { readonly paused?: boolean } = {},
): Promise<Dashboard | undefined> {
  const executable = findChromium();
  if (executable === undefined) return undefined;
  if (!existsSync(built)) throw new Error('the dashboard is not built: npm run build:ui');
  const [{ app, port }, browser] = await Promise.all([
    startApp(types, flags, { history: 'real', ...options }),
    launch(executable),
  ]);
  const origin = `http://127.0.0.1:${port}`;
  const ask = async (path: string, init?: RequestInit): Promise<Answer> => {
    const answer = await fetch(`${origin}/api/sim/${path}`, init);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const post = (path: string, body?: unknown): Promise<Answer> =>
    ask(path, {
      method: 'POST',
      ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
  return {
    app,
    origin,
    browser,
    async open(hash = '#/overview', prepare) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      page.setDefaultTimeout(process.env['CI'] === undefined ? 10_000 : 30_000);
      const seen = watch(page, origin);
      await prepare?.(page);
      await page.goto(`${origin}/${hash}`);
      await page.waitForSelector('[data-test="clock"]');
      return { page, seen };
    },
    get: (path) => ask(path),
    post,
    async step(ticks = 1) {
      await post('controls/time/step', { ticks });
    },
    async stop() {
      await browser.close();
      await app.stop();
    },
  };
}
