/** The page of a test: draws, types, presses, and reads as a user does. */
import type { ComponentChild } from 'preact';
import { render } from 'preact';
import { loadPending } from '../../../src/ui/shell/lazy';
import { settle } from './settle.ts';

let root: HTMLElement | null = null;

/** Draws in an empty page, and waits for its answers. Code of views is loaded before. */
export async function show(what: ComponentChild): Promise<HTMLElement> {
  await loadPending(() => Promise.resolve());
  return draw(what);
}

/** Draws in an empty page, where code of views is not loaded yet. */
export async function draw(what: ComponentChild): Promise<HTMLElement> {
  await leave();
  const parent = document.createElement('div');
  document.body.append(parent);
  root = parent;
  render(what, parent);
  await settle();
  return parent;
}

/** Ends what is drawn. */
export async function leave(): Promise<void> {
  if (root === null) return;
  render(null, root);
  root.remove();
  root = null;
  await settle();
}

/** Shows another address, as a link does. @param hash such as `#/devices?device=1` */
export async function address(hash: string): Promise<void> {
  history.replaceState(null, '', hash);
  dispatchEvent(new Event('hashchange'));
  await settle();
}

/** Switches the API switch on, which shows the call of each control. */
export function showCalls(): Promise<void> {
  const { hash } = location;
  return address(`${hash === '' ? '#/' : hash}${hash.includes('?') ? '&' : '?'}api=1`);
}

/** @throws Error unless the page has it */
export function one(selector: string): HTMLInputElement {
  const [element] = all(selector);
  if (element === undefined) throw new Error(`the page has no ${selector}`);
  return element;
}

/** Elements as inputs: a test reads what its element has. */
export function all(selector: string): readonly HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>(selector)];
}

/** The text of an element, with single spaces. */
export function textOf(selector = 'body'): string {
  return one(selector).textContent.replace(/\s+/g, ' ').trim();
}

/** The button with this text, or this name. */
export function button(name: string): HTMLInputElement {
  const match = all('button').find(
    (each) => each.textContent.trim() === name || each.getAttribute('aria-label') === name,
  );
  if (match === undefined) throw new Error(`the page has no button ${name}`);
  return match;
}

export async function press(name: string): Promise<void> {
  button(name).click();
  await settle();
}

/** Types into a field, or chooses. @param name of the input */
export async function type(name: string, text: string): Promise<void> {
  const field = one(`[name="${name}"]`);
  field.value = text;
  field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
  await settle();
}

export async function tick(name: string, on: boolean): Promise<void> {
  const box = one(`[name="${name}"]`);
  box.checked = on;
  box.dispatchEvent(new Event('change', { bubbles: true }));
  await settle();
}
