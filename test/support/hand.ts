/**
 * A user at a page, counted: a click, a filled field and a drag are one action each, a choice of a list is two. Scrolls to
 * what lies outside of the screen are counted apart.
 */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { Dashboard, Shown } from './dashboard.ts';

interface Place {
  readonly x: number;
  readonly y: number;
}

/**
 * Runs in the page before its own code. It counts presses of mouse and keys, and what is entered without a press, as
 * by a script.
 */
const witness = `globalThis.deeds = 0;
let [pressed, last] = [false, null];
for (const type of ['pointerdown', 'keydown'])
  addEventListener(type, () => { globalThis.deeds += 1; pressed = true; last = null; }, true);
for (const type of ['pointerup', 'keyup'])
  addEventListener(type, () => { setTimeout(() => { pressed = false; }); }, true);
addEventListener('input', ({ target }) => {
  if (!pressed && target !== last) globalThis.deeds += 1;
  last = target;
}, true);`;

/** The front of the dashboard as a user finds it, in a window that nobody has used. */
export async function openByHand(dashboard: Dashboard): Promise<Shown & { readonly hand: Hand }> {
  let hand: Hand | undefined;
  const shown = await dashboard.open('', async (page) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    hand = await Hand.at(page);
  });
  if (hand === undefined) throw new Error('nothing was opened');
  return { ...shown, hand };
}

export class Hand {
  #actions = 0;
  #scrolls = 0;
  /** actions that the page has no event of */
  #silent = 0;
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** Takes a page before it has loaded. */
  static async at(page: Page): Promise<Hand> {
    await page.addInitScript(witness);
    return new Hand(page);
  }

  async click(target: Locator): Promise<void> {
    await this.#reach(target);
    await target.click();
  }

  follow(name: string | RegExp): Promise<void> {
    return this.click(this.#page.getByRole('link', { name, exact: true }));
  }

  press(name: string): Promise<void> {
    return this.click(this.#page.getByRole('button', { name, exact: true }));
  }

  async type(target: Locator, text: string): Promise<void> {
    await this.#reach(target);
    await target.fill(text);
  }

  async choose(target: Locator, label: string): Promise<void> {
    await this.#reach(target);
    // the list opens, and its entry is taken
    this.#actions += 1;
    this.#silent += 1;
    await target.selectOption({ label });
  }

  /** Presses the button of the mouse at one place of an element and lets it go at another. */
  async drag(target: Locator, from: Place, to: Place): Promise<void> {
    await this.#reach(target);
    await target.hover({ position: from });
    await this.#page.mouse.down();
    // the button stays pressed: no click follows
    await target.hover({ position: to, force: true });
    await this.#page.mouse.up();
  }

  /** @throws AssertionError for more actions, or when the page has seen others than those counted here */
  async expectAtMost(budget: number, scrolls = 0): Promise<void> {
    expect(this.#actions, 'actions').to.be.at.most(budget);
    expect(this.#scrolls, 'scrolls').to.be.at.most(scrolls);
    expect(await this.#page.evaluate('globalThis.deeds'), 'what the page has seen').to.equal(
      this.#actions - this.#silent,
    );
  }

  async #reach(target: Locator): Promise<void> {
    await target.waitFor();
    this.#actions += 1;
    if (await this.#isOnScreen(target)) return;
    this.#scrolls += 1;
    await target.scrollIntoViewIfNeeded();
  }

  async #isOnScreen(target: Locator): Promise<boolean> {
    const [box, screen] = [await target.boundingBox(), this.#page.viewportSize()];
    if (box === null || screen === null) return false;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return x >= 0 && y >= 0 && x < screen.width && y < screen.height;
  }
}
