import { expect } from 'chai';
import { FaultsView } from '../../../src/ui/views/inputs/faults/faults';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, leave, one, show, textOf } from '../support/page.tsx';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

describe('faults', () => {
  before(startPage);
  beforeEach(accept);

  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  it('lists ended faults with the newest first, as the simulator does', async () => {
    const daemon = new Daemon();
    answerForSite(daemon);
    const example = daemon.exampleOf('GET', 'faults');
    const [fault] = [...example.ended, ...example.faults] as readonly Json[];
    const endedAt = (id: number, second: number) => ({
      ...fault,
      id,
      end: 'cleared',
      ended_at: `2026-06-21T12:00:0${second}.000Z`,
    });
    // the newest end is not that of the newest fault
    daemon.on('GET faults', () => ({ ...example, ended: [endedAt(2, 9), endedAt(7, 5), endedAt(1, 1)] }));
    await address('#/inputs/faults');
    await show(<FaultsView />);
    const rows = all('table[aria-label="Ended faults"] tbody tr');
    expect(rows.map((row) => row.querySelector('td')?.textContent)).to.deep.equal(['2', '7', '1']);
  });

  it('shows the form of a linked fault at once, and what is left of each fault in force', async () => {
    const daemon = new Daemon();
    answerForSite(daemon);
    const example = daemon.exampleOf('GET', 'faults');
    const [fault] = [...example.faults, ...example.ended] as readonly Json[];
    const timed = {
      ...fault,
      id: 3,
      duration_s: 400,
      remaining_s: 276,
      remaining: null,
      parameters: { delay_ms: 300 },
    };
    daemon.on('GET faults', () => ({ ...example, faults: [timed] }));
    const [{ protocol, kind }] = daemon.exampleOf('GET', 'faults/kinds').kinds;
    await address(`#/inputs/faults?fault=${protocol}.${kind}`);
    const scrolled: string[] = [];
    const { scrollIntoView } = Element.prototype;
    Element.prototype.scrollIntoView = function noteText(this: Element) {
      scrolled.push(this.querySelector('h2')?.textContent ?? '');
    };
    await show(<FaultsView />);
    Element.prototype.scrollIntoView = scrollIntoView;
    expect(scrolled).to.deep.equal(['Make one']);
    expect(textOf('.faults-in-force')).to.contain('4:36 left').and.to.contain('delay 300 ms');
    expect(Number(one('.faults-in-force progress').getAttribute('value'))).to.equal(0.69);
  });
});
