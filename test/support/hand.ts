/** What a user does at a page, counted: a click, a chord of keys, a filled field, a choice of a list and a drag are one each. */
import type { Locator, Page } from 'playwright-core';

interface Place {
  readonly x: number;
  readonly y: number;
}

export class Hand {
  actions = 0;
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async click(target: Locator): Promise<void> {
    this.actions += 1;
    await target.click();
  }

  follow(name: string | RegExp): Promise<void> {
    return this.click(this.#page.getByRole('link', { name, exact: true }));
  }

  press(name: string): Promise<void> {
    return this.click(this.#page.getByRole('button', { name, exact: true }));
  }

  async type(target: Locator, text: string): Promise<void> {
    this.actions += 1;
    await target.fill(text);
  }

  async choose(target: Locator, label: string): Promise<void> {
    this.actions += 1;
    await target.selectOption({ label });
  }

  /** Presses the button of the mouse at one place of an element and lets it go at another. */
  async drag(target: Locator, from: Place, to: Place): Promise<void> {
    this.actions += 1;
    await target.hover({ position: from });
    await this.#page.mouse.down();
    // the button stays pressed: no click follows
    await target.hover({ position: to, force: true });
    await this.#page.mouse.up();
  }
}
