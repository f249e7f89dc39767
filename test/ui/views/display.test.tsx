import { expect } from 'chai';
import type { ReplyOf } from '../../../src/ui/api/call';
import { Display } from '../../../src/ui/views/devices/connector';
import { Daemon } from '../support/daemon.ts';
import { all, leave, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const path = 'evse/CP-1/connectors/1';

describe('display of a connector', () => {
  afterEach(leave);

  const showDisplay = async (texts: ReplyOf<'evse/{id}/connectors/{cid}/display'>['texts'], central = true) => {
    const daemon = new Daemon().on(`GET ${path}/display`, () => ({ connector_id: 1, texts }));
    const connector = daemon.exampleOf('GET', path) as ReplyOf<'evse/{id}/connectors/{cid}'>;
    await show(<Display id="CP-1" connector={connector} central={central} />);
    await settle();
    return daemon;
  };

  it('shows the texts of the station and the messages, each with its number', async () => {
    const text = { priority: 'NormalCycle', format: 'UTF8', language: null } as const;
    await showDisplay([
      { ...text, message_id: null, text: 'Cost: 1.25 EUR' },
      { ...text, message_id: 7, text: 'Welcome' },
    ]);
    expect(all('[data-test=display-1]').map(({ textContent }) => textContent)).to.deep.equal([
      'Cost: 1.25 EUR',
      'Welcome',
    ]);
    expect(textOf()).to.contain('Display, message 7');
  });

  it('shows nothing where there is no text, and asks nothing without a central system', async () => {
    const asking = await showDisplay([]);
    expect([textOf(), asking.asked.length]).to.deep.equal(['', 1]);
    await leave();
    const silent = await showDisplay([], false);
    expect(silent.asked).to.deep.equal([]);
  });
});
