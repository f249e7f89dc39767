import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const style = ['kit', 'overview', 'device', 'views']
  .map((name) => readFileSync(new URL(`../../../src/ui/look/${name}.css`, import.meta.url), 'utf8'))
  .join('\n');

/** The selectors that one with `:is` stands for. */
function plainOnes(selector: string): readonly string[] {
  const start = selector.indexOf(':is(');
  if (start < 0) return [selector];
  const parts = [''];
  let [at, depth] = [start + 4, 1];
  for (; depth > 0; at += 1) {
    const sign = selector.charAt(at);
    depth += sign === '(' ? 1 : sign === ')' ? -1 : 0;
    if (sign === ',' && depth === 1) parts.push('');
    else if (depth > 0) parts.push(`${parts.pop() ?? ''}${sign}`);
  }
  return parts.flatMap((part) => plainOnes(selector.slice(0, start) + part.trim() + selector.slice(at)));
}

/** Selectors of the rules that mute a text. */
const muting = [...style.matchAll(/^(:is\(.*?) \{ color: var\(--muted\)/gm)].flatMap(([, selector = '']) =>
  plainOnes(selector),
);

describe('values of a stale page', () => {
  const shown: readonly (readonly [what: string, selector: string])[] = [
    ['the value of a row', '.old .rows .end.figure'],
    ['the sum of a group', '.old .group-head strong'],
    ['the head of the waterfall', '.old .panel:has(.waterfall) > header h2'],
    ['the chip of a state', '.old .view .chip'],
    ['the number of a slider', '.old .slider .number input'],
    ['a figure of a picture', '.old .node .figure'],
  ];
  for (const [what, selector] of shown)
    it(`are muted: ${what}`, () => {
      expect(muting).to.include(selector);
    });
});
