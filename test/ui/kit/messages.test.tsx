import { expect } from 'chai';
import { render } from 'preact';
import { post } from '../../../src/ui/api/call';
import { Messages } from '../../../src/ui/kit/messages';
import { notice } from '../../../src/ui/kit/notice';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { address, all, leave, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { accept, end, startPage } from '../support/stream.ts';

interface Message {
  readonly id: number;
  readonly text: string;
}

type Drawing = NonNullable<Parameters<typeof Messages<Message>>[0]['drawing']>;

const list = (method = 'all', enabled: boolean | null = false, drawing?: Drawing) => (
  <Messages<Message>
    title="DNP3 messages"
    name="dnp3"
    read={(afterId) => ({
      method: 'GET',
      address: `/api/sim/dnp3/messages?of=${method}${afterId === undefined ? '' : `&after_id=${afterId}`}`,
    })}
    recording={{
      enabled: enabled ?? undefined,
      on: post('dnp3/messages', { body: { enabled: true } }),
      off: post('dnp3/messages', { body: { enabled: false } }),
    }}
    columns={[{ title: 'Text', cell: ({ text }) => <b>{text}</b>, value: ({ text }) => text }]}
    textOf={({ text }) => text}
    detail={({ text }) => <pre>{`raw ${text}`}</pre>}
    empty="No message yet."
    {...(drawing && { drawing })}
  />
);

describe('list of messages', () => {
  let daemon: Daemon;
  let kept: Message[];
  const texts = () => all('tbody b').map((each) => each.textContent);
  const reads = () => daemon.to('GET dnp3/messages');
  const keep = (...ids: readonly number[]) => kept.push(...ids.map((id) => ({ id, text: `message ${id}` })));

  before(startPage);

  beforeEach(async () => {
    kept = [];
    daemon = new Daemon().on('GET dnp3/messages', ({ query }) => ({
      last_id: kept.at(-1)?.id ?? 0,
      messages: kept.filter(({ id }) => id > Number(query['after_id'] ?? 0)),
    }));
    await accept();
    await address('#/protocols/dnp3/messages');
  });

  afterEach(async () => {
    await leave();
    await pass(1000);
  });

  it('reads on from the last message, once a second', async () => {
    keep(1, 2);
    await show(list());
    expect(texts()).to.deep.equal(['message 1', 'message 2']);
    keep(3);
    await pass(999);
    expect(texts()).to.have.lengthOf(2);
    await pass(1);
    expect(texts()).to.deep.equal(['message 1', 'message 2', 'message 3']);
    expect(reads().map(({ query }) => query['after_id'])).to.deep.equal([undefined, '2']);
  });

  it('is in the order of the numbers, however an answer has them', async () => {
    daemon.on('GET dnp3/messages', ({ query }) => ({
      messages: query['after_id'] === undefined ? [3, 1, 2].map((id) => ({ id, text: String(id) })) : [],
    }));
    await show(list());
    await pass(1000);
    expect(texts()).to.deep.equal(['1', '2', '3']);
    expect(reads().at(-1)?.query['after_id']).to.equal('3');
  });

  it('begins anew when a daemon that started again counts from the beginning', async () => {
    keep(101, 102);
    await show(list());
    kept = [];
    keep(1);
    await pass(1000);
    expect(texts()).to.deep.equal([]);
    await pass(1000);
    expect(texts()).to.deep.equal(['message 1']);
  });

  it('begins anew when the stream was opened again, and when another filter is chosen', async () => {
    keep(1);
    const root = await show(list());
    await end();
    await accept();
    expect(reads().map(({ query }) => query['after_id'])).to.deep.equal([undefined, undefined]);
    render(list('read'), root);
    await settle();
    expect(reads().at(-1)?.query).to.deep.equal({ of: 'read' });
    expect(texts()).to.deep.equal(['message 1']);
  });

  it('drops an answer to a filter that was left', async () => {
    let late: (answer: Response) => void = () => undefined;
    const answers = {
      all: new Promise<Response>((resolve) => (late = resolve)),
      read: { messages: [{ id: 7, text: 'new' }] },
    };
    daemon.on('GET dnp3/messages', ({ query }) => (query['of'] === 'all' ? answers.all : answers.read));
    const root = await show(list());
    render(list('read'), root);
    await settle();
    late(Response.json({ messages: [{ id: 6, text: 'old' }] }));
    await settle();
    expect(texts()).to.deep.equal(['new']);
  });

  it('waits while it is paused, and takes up what came meanwhile', async () => {
    keep(1);
    await show(list());
    await press('Pause list');
    keep(2);
    await pass(3000);
    expect(texts()).to.deep.equal(['message 1']);
    await press('Pause list');
    await pass(1000);
    expect(texts()).to.deep.equal(['message 1', 'message 2']);
  });

  it('can be cleared, and goes on after the last message', async () => {
    keep(1);
    await show(list());
    await press('Clear list');
    expect(textOf('.empty')).to.equal('No message yet.');
    keep(2);
    await pass(1000);
    expect(texts()).to.deep.equal(['message 2']);
  });

  it('keeps the newest 2000 messages', async () => {
    keep(...Array.from({ length: 2100 }, (_none, index) => index + 1));
    await show(list());
    expect(all('table')[0]?.getAttribute('aria-rowcount')).to.equal('2000');
    expect(texts()[0]).to.equal('message 101');
  });

  it('finds texts, and keeps what was sought in the address', async () => {
    keep(1, 12, 2);
    await show(list());
    const find = document.querySelector('input');
    if (find === null) throw new Error('the list has no search');
    find.value = 'MESSAGE 1';
    find.dispatchEvent(new Event('input', { bubbles: true }));
    await settle();
    expect(texts()).to.deep.equal(['message 1', 'message 12']);
    expect(location.hash).to.equal('#/protocols/dnp3/messages?dnp3-find=MESSAGE+1');
  });

  it('opens a message, whose number is in the address, and closes it again', async () => {
    keep(1, 2);
    await show(list());
    all('tbody tr')[1]?.click();
    await settle();
    expect(location.hash).to.equal('#/protocols/dnp3/messages?dnp3-message=2');
    expect(textOf('pre')).to.equal('raw message 2');
    all('tbody tr')[1]?.click();
    await settle();
    expect(all('pre')).to.deep.equal([]);
  });

  it('says why it cannot be read, and goes on afterwards', async () => {
    daemon.on('GET dnp3/messages', () => refusal(503, 'The simulator is stopping.'));
    await show(list());
    expect(textOf('.problem')).to.equal('The simulator is stopping.');
    daemon.on('GET dnp3/messages', () => ({ messages: [{ id: 1, text: 'back' }] }));
    await pass(1000);
    expect(all('.problem')).to.deep.equal([]);
    expect(texts()).to.deep.equal(['back']);
  });

  describe('recording', () => {
    const posted = () => daemon.to('POST dnp3/messages').map(({ body }) => body);

    it('begins when messages come into view, and says so', async () => {
      await show(list());
      expect(posted()).to.deep.equal([{ enabled: true }]);
      expect(notice.value?.text).to.equal('Recording began: DNP3 messages.');
    });

    it('is left alone where it is on, or not read yet', async () => {
      await show(list('all', true));
      await show(list('all', null));
      expect(posted()).to.deep.equal([]);
    });

    it('stays off when someone stops it, until the button is pressed', async () => {
      const root = await show(list('all', true));
      await press('Stop recording');
      render(list('all', false), root);
      await settle();
      expect(posted()).to.deep.equal([{ enabled: false }]);
      await press('Record');
      expect(posted()).to.deep.equal([{ enabled: false }, { enabled: true }]);
    });
  });

  it('is drawn as a sequence in its place, with the same message chosen', async () => {
    keep(1, 2);
    const arrows = (rows: readonly Message[]) =>
      rows.map(({ id, text }) => ({ id, at: '2026-06-21T12:00:00.000Z', from: 0, to: 1, text }));
    await show(list('all', true, (rows) => ({ lifelines: ['a', 'b'], arrows: arrows(rows) })));
    expect(all('table')).to.deep.equal([]);
    all('.sequence .arrow')[1]?.click();
    await settle();
    expect(location.hash).to.equal('#/protocols/dnp3/messages?dnp3-message=2');
    expect(textOf('pre')).to.equal('raw message 2');
  });
});
