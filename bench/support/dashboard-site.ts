/** A simulator whose dashboard answers, and browsers that look at it, each for one round. */
import type { Browser } from 'playwright-core';
import { launch } from '../../test/support/browser.ts';
import { untilHttpOk, within } from './net.ts';
import { startSimulator } from './simulator.ts';

/** @param look gets the address of the simulator, which ends after it */
export async function atSimulator<T>(devices: number, look: (origin: string) => Promise<T>): Promise<T> {
  const simulator = await startSimulator(devices);
  try {
    await within(60, untilHttpOk(simulator.healthUrl), simulator.failed);
    return await look(new URL(simulator.healthUrl).origin);
  } finally {
    await simulator.stop();
  }
}

/** @param look gets a browser of its own, so that no round has the cache of another */
export async function inBrowser<T>(executable: string, look: (browser: Browser) => Promise<T>): Promise<T> {
  const browser = await launch(executable);
  try {
    return await look(browser);
  } finally {
    await browser.close();
  }
}
