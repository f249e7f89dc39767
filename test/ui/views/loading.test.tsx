import { expect } from 'chai';
import { views } from '../../../src/ui/shell/views';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { address, all, leave, show } from '../support/page.tsx';
import { answerForSite, kinds } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

/** Views whose content comes with an answer of its own, by address. */
const places: readonly string[] = [
  ...kinds.map((_kind, index) => `devices/${index}/picture`),
  ...kinds.map((_kind, index) => `devices/${index}/details`),
  'settings',
  'state',
  'protocols/csip/connect',
  'protocols/ocpp/connect',
  'scenarios',
  'scenarios/runs',
  'events/captures',
  'compare/side-by-side',
];

describe('views before the first answers', () => {
  let answer: () => void;
  before(async () => {
    await startPage();
    await accept();
  });
  afterEach(async () => {
    answer();
    await leave();
    await pass(3000);
  });

  for (const place of places)
    it(`${place}: grey blocks after 300 ms, until they come`, async () => {
      const View = views.find(({ path }) => place.split('/')[0] === path)?.component;
      if (View === undefined) throw new Error(`no view is at ${place}`);
      const daemon = new Daemon();
      answerForSite(daemon);
      const fetched = globalThis.fetch;
      const answered = new Promise<void>((resolve) => (answer = resolve));
      globalThis.fetch = async (...args) => {
        // the devices are there before a view of one is opened
        if (!(args[0] as string).includes('/api/sim/overview')) await answered;
        return fetched(...args);
      };
      await address(`#/${place}`);
      await show(<View />);
      await pass(290);
      expect(all('.loading .block')).to.have.length(0);
      await pass(20);
      expect(all('.loading .block')).to.not.have.length(0);
      answer();
      await pass(100);
      expect(all('.loading')).to.have.length(0);
    });
});
