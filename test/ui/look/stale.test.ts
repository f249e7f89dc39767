import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const style = ['kit', 'overview', 'device', 'views']
  .map((name) => readFileSync(new URL(`../../../src/ui/look/${name}.css`, import.meta.url), 'utf8'))
  .join('\n');

/** Selectors of the rules that mute a text. */
const muting = [...style.matchAll(/^(:is\(.*?) \{ color: var\(--muted\)/gm)].map(([, selector = '']) => selector);

describe('values of a stale page', () => {
  const shown: readonly (readonly [what: string, html: string])[] = [
    ['the value of a row', '<ul class="rows"><li><b class="end figure" data-x>6.00</b></li></ul>'],
    ['the sum of a group', '<div class="group-head"><strong data-x>6.00</strong></div>'],
    [
      'the head of the waterfall',
      '<section class="panel"><header><h2 data-x>Why</h2></header><table class="waterfall"></table></section>',
    ],
    ['the chip of a state', '<span class="chip good" data-x>charging</span>'],
    ['the number of a slider', '<div class="slider"><span class="number"><input data-x></span></div>'],
    ['a cell of a table', '<table><tr><td data-x>6.00</td></tr></table>'],
  ];
  for (const [what, html] of shown)
    it(`are muted: ${what}`, () => {
      const page = document.createElement('div');
      const isMuted = () => muting.some((selector) => page.querySelector('[data-x]')?.matches(selector) === true);
      page.innerHTML = `<div><main class="view">${html}</main></div>`;
      document.body.append(page);
      expect(isMuted()).to.equal(false);
      page.firstElementChild?.classList.add('old');
      expect(isMuted()).to.equal(true);
      page.remove();
    });
});
