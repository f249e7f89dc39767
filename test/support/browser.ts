import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The browser of the machine: `CHROMIUM`, or one of the usual places. */
export function findChromium(): string | undefined {
  return [process.env['CHROMIUM'], ...usual].find((path) => path !== undefined && existsSync(path));
}

/** @param more further command-line arguments */
/** Reason of tests that are skipped without a browser. */
export const noChromium = 'no Chromium was found (CHROMIUM names one)';

export function launch(executablePath: string, more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      ...more,
    ],
  });
}

/** Violations of a page. */
export interface Watch {
  readonly requests: string[];
  readonly complaints: string[];
}

/** Records requests, console errors, exceptions, failed loads and CSP violations of a page. */
export function watch(page: Page, origin: string): Watch {
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    requests.push(url);
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:') && !url.startsWith(`blob:${origin}/`)) {
      complaints.push(`request to ${url}`);
    }
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || /content security policy/i.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // a page that is left gives up what it has asked for
    if (reason !== 'net::ERR_ABORTED') complaints.push(`failed ${request.url()}: ${reason}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  return { requests, complaints };
}
