/** OCPP 2.0.1 and 2.1, block O: messages on the displays of a station. */
import { expect } from 'chai';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import { createDisplay } from '../../../../src/ocpp/v201/display-message.ts';
import type { DisplayDeps } from '../../../../src/ocpp/v201/display-message.ts';
import type { MessageContent, MessageInfo } from '../../../../src/ocpp/v201/messages.ts';
import type { Transaction } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { createSignal } from '../../../../src/ocpp/station/stack.ts';
import type { RemoteClock } from '../../../../src/core/time/remote-clock.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { settled } from '../../v16/fakes.ts';
import { rig as stationRig } from '../rig.ts';

const utf8 = (content: string, language?: string): MessageContent => ({
  format: 'UTF8',
  content,
  ...(language !== undefined && { language }),
});

const message = (id: number, more: Partial<MessageInfo> = {}): MessageInfo => ({
  id,
  priority: 'NormalCycle',
  message: utf8(`text ${id}`),
  ...more,
});

const noTransactions: DisplayDeps['transactions'] = { byId: () => null, onEnded: () => () => undefined };

async function made(version: Version2 = 'ocpp2.1', more: Partial<DisplayDeps> = {}) {
  const rig = stationRig({ version });
  const running = new Map([['T1', { transactionId: 'T1', evseId: 1 } as Transaction]]);
  const ended = createSignal<Transaction>(silentLogger);
  const transactions = {
    byId: (id: string) => running.get(id) ?? null,
    onEnded: (listener: (transaction: Transaction) => void) => ended.on(listener),
  };
  const make = async () => {
    const display = createDisplay(rig.parts, { transactions, ...more });
    await display.load?.();
    return display;
  };
  const display = await make();
  const set = async (info: MessageInfo) => await rig.ask(display, 'SetDisplayMessage', { message: info });
  return {
    rig,
    display,
    make,
    set,
    texts: (evseId: number) => display.shown(evseId).map(({ text }) => text),
    end: (id: string) => {
      const transaction = running.get(id);
      running.delete(id);
      if (transaction !== undefined) ended.emit(transaction);
    },
    atS: (s: number) => new Date(rig.wall.nowMs() + s * 1000).toISOString(),
  };
}

describe('OCPP 2.x block O: display messages', () => {
  it('shows an accepted message on every display, and counts it (O01)', async () => {
    const { rig, set, texts } = await made();
    expect(await set(message(1))).to.deep.equal({ status: 'Accepted' });
    expect([texts(0), texts(1), texts(2)]).to.deep.equal([['text 1'], ['text 1'], ['text 1']]);
    expect(rig.variables.integer('DisplayMessageCtrlr', 'DisplayMessages')).to.equal(1);
  });

  it('shows messages in front instead of the normal cycle, and one always in front alone', async () => {
    const { set, texts } = await made();
    for (const id of [1, 2]) await set(message(id));
    expect(texts(1)).to.deep.equal(['text 1', 'text 2']);
    for (const id of [3, 4]) await set(message(id, { priority: 'InFront' }));
    expect(texts(1)).to.deep.equal(['text 3', 'text 4']);
    await set(message(5, { priority: 'AlwaysFront' }));
    await set(message(6, { priority: 'AlwaysFront' }));
    expect(texts(1)).to.deep.equal(['text 6']);
  });

  it('keeps one message that stands always in front of a display: the newest', async () => {
    const { display, set } = await made();
    const at = (evse: number) => ({ name: 'Display', evse: { id: evse } });
    await set(message(1, { priority: 'AlwaysFront', display: at(1) }));
    await set(message(2, { priority: 'AlwaysFront', display: at(2) }));
    await set(message(3, { priority: 'AlwaysFront', display: at(1) }));
    expect(display.messages.map(({ id }) => id)).to.deep.equal([2, 3]);
  });

  it('replaces the message with the same id (O06)', async () => {
    const { display, set, texts } = await made();
    await set(message(1));
    await set(message(1, { message: utf8('new') }));
    expect(texts(0)).to.deep.equal(['new']);
    expect(display.messages).to.have.length(1);
  });

  it('shows a message in its state only', async () => {
    const { rig, set, texts } = await made();
    for (const [id, state] of (['Idle', 'Charging', 'Suspended', 'Faulted', 'Unavailable'] as const).entries())
      await set(message(id, { state, message: utf8(state) }));
    const seen = (['available', 'charging', 'suspended_ev', 'faulted', 'unavailable', 'preparing'] as const).map(
      (status) => {
        rig.device.status(1, status);
        return texts(1);
      },
    );
    expect(seen).to.deep.equal([['Idle'], ['Charging'], ['Suspended'], ['Faulted'], ['Unavailable'], ['Idle']]);
    await set(message(9, { state: 'Discharging', message: utf8('Discharging') }));
    rig.device.change(1, { status: 'charging', powerW: -5000 });
    expect(texts(1)).to.deep.equal(['Discharging']);
    expect(texts(0)).to.deep.equal(['Idle', 'Discharging']);
  });

  it('shows a message from its start to its end, and forgets it then', async () => {
    const { rig, display, set, texts, atS } = await made();
    await set(message(1, { startDateTime: atS(60), endDateTime: atS(120) }));
    expect(texts(1)).to.deep.equal([]);
    await rig.pass(60);
    expect(texts(1)).to.deep.equal(['text 1']);
    await rig.pass(60);
    expect([texts(1), display.messages]).to.deep.equal([[], []]);
  });

  it('shows the message of a transaction at its EVSE until it ends (O02)', async () => {
    const { display, set, texts, end } = await made();
    expect(await set(message(1, { transactionId: 'T1' }))).to.deep.equal({ status: 'Accepted' });
    expect([texts(0), texts(1), texts(2)]).to.deep.equal([[], ['text 1'], []]);
    end('T1');
    expect(display.messages).to.deep.equal([]);
    expect(await set(message(1, { transactionId: 'T1' }))).to.deep.equal({ status: 'UnknownTransaction' });
  });

  it('keeps messages over a restart, but for those of transactions that are gone', async () => {
    const { rig, make, set, end, atS } = await made();
    await set(message(1, { endDateTime: atS(60) }));
    await set(message(2, { transactionId: 'T1' }));
    await settled();
    end('T1');
    const again = await make();
    expect(again.messages.map(({ id }) => id)).to.deep.equal([1]);
    await rig.pass(60);
    expect(again.messages).to.deep.equal([]);
  });

  it('forgets a message at its end though the clock calls a moment early', async () => {
    const { rig, atS } = await made();
    const { clock } = rig.parts;
    const early = { nowMs: () => clock.nowMs(), at: (ms: number, act: () => void) => clock.at(ms - 0.4, act) };
    const display = createDisplay({ ...rig.parts, clock: early as RemoteClock }, { transactions: noTransactions });
    await display.load?.();
    await rig.ask(display, 'SetDisplayMessage', { message: message(1, { endDateTime: atS(60) }) });
    await rig.pass(60);
    expect(display.messages).to.deep.equal([]);
  });

  const refusals: readonly (readonly [title: string, info: MessageInfo, status: string, version?: Version2])[] = [
    ['a URI that is none', message(1, { message: { format: 'URI', content: 'nothing' } }), 'Rejected'],
    ['ASCII that is none', message(1, { message: { format: 'ASCII', content: 'é' } }), 'Rejected'],
    ['a language that it does not speak', message(1, { message: utf8('x', 'xx') }), 'LanguageNotSupported'],
    ['an EVSE without a display', message(1, { display: { name: 'Display', evse: { id: 9 } } }), 'Rejected'],
    ['a display that it does not have', message(1, { display: { name: 'Lamp' } }), 'Rejected'],
    ['an end before now', message(1, { endDateTime: '2020-01-01T00:00:00Z' }), 'Rejected'],
    [
      'a transaction at another EVSE',
      message(1, { transactionId: 'T1', display: { name: 'Display', evse: { id: 2 } } }),
      'Rejected',
    ],
  ]; // prettier-ignore

  for (const [title, info, status] of refusals)
    it(`refuses ${title}`, async () => {
      const { display, set } = await made();
      expect((await set(info)).status).to.equal(status);
      expect(display.messages).to.deep.equal([]);
    });

  it('takes any language with 2.0.1, which asks for none', async () => {
    const { set } = await made('ocpp2.0.1');
    expect((await set(message(1, { message: utf8('x', 'xx') }))).status).to.equal('Accepted');
  });

  it('takes a replacement but no further message when it is full', async () => {
    const { set } = await made();
    for (let id = 0; id < 50; id++) expect((await set(message(id))).status).to.equal('Accepted');
    expect(await set(message(50))).to.deep.include({ status: 'Rejected' });
    expect((await set(message(49, { message: utf8('other') }))).status).to.equal('Accepted');
  });

  it('shows and takes nothing while displays are disabled', async () => {
    const { rig, set, texts } = await made();
    await set(message(1));
    rig.variables.override('DisplayMessageCtrlr', 'Enabled', 'false');
    expect(texts(1)).to.deep.equal([]);
    expect((await set(message(2))).statusInfo?.reasonCode).to.equal('NotEnabled');
  });

  it('reports messages in parts, after the answer (O03)', async () => {
    const { rig, display, set } = await made();
    expect(await rig.ask(display, 'GetDisplayMessages', { requestId: 7 })).to.deep.equal({ status: 'Unknown' });
    for (let id = 0; id < 12; id++) await set(message(id));
    expect(await rig.ask(display, 'GetDisplayMessages', { requestId: 8 })).to.deep.equal({ status: 'Accepted' });
    await settled();
    const parts = rig.line.of('NotifyDisplayMessages') as unknown as readonly {
      readonly requestId: number;
      readonly tbc: boolean;
      readonly messageInfo: readonly MessageInfo[];
    }[];
    expect(parts.map(({ requestId, tbc }) => [requestId, tbc])).to.deep.equal([
      [8, true],
      [8, true],
      [8, false],
    ]);
    expect(parts.flatMap(({ messageInfo }) => messageInfo)).to.deep.equal(display.messages);
  });

  it('reports the messages that are asked for (O04)', async () => {
    const { rig, display, set } = await made();
    await set(message(1, { state: 'Idle' }));
    await set(message(2, { state: 'Idle', priority: 'InFront' }));
    await set(message(3, { priority: 'InFront' }));
    const ask = async (criteria: object) => {
      const { status } = await rig.ask(display, 'GetDisplayMessages', { requestId: 1, ...criteria });
      await settled();
      const sent = rig.line.of('NotifyDisplayMessages').at(-1)?.['messageInfo'] as readonly MessageInfo[] | undefined;
      return status === 'Unknown' ? status : sent?.map(({ id }) => id);
    };
    expect(await ask({ state: 'Idle' })).to.deep.equal([1, 2]);
    expect(await ask({ priority: 'InFront' })).to.deep.equal([2, 3]);
    expect(await ask({ id: [1, 2], priority: 'InFront' })).to.deep.equal([2]);
    expect(await ask({ id: [4] })).to.equal('Unknown');
  });

  it('finds more ids than there can be messages', async () => {
    const { rig, display } = await made();
    const id = Array.from({ length: 51 }, (_, i) => i);
    let error: unknown = null;
    await rig.ask(display, 'GetDisplayMessages', { requestId: 1, id }).catch((thrown: unknown) => (error = thrown));
    expect(error).to.be.instanceOf(CallError).with.property('code', 'OccurrenceConstraintViolation');
    expect(rig.findings.map(([clause]) => clause)).to.deep.equal(['OCPP 2.1 O04']);
  });

  it('clears a message once (O05)', async () => {
    const { rig, display, set, texts } = await made();
    await set(message(1));
    expect(await rig.ask(display, 'ClearDisplayMessage', { id: 1 })).to.deep.equal({ status: 'Accepted' });
    expect(texts(1)).to.deep.equal([]);
    expect(await rig.ask(display, 'ClearDisplayMessage', { id: 1 })).to.deep.equal({ status: 'Unknown' });
  });

  it('shows the language of the driver, else that of the station, else the first one', async () => {
    let driver: readonly string[] = [];
    const own = [[utf8('cost'), utf8('Kosten', 'de')]] as const;
    const { rig, set, texts } = await made('ocpp2.1', { languagesAt: () => driver, ownTexts: () => own });
    await set(message(1, { message: utf8('bonjour', 'fr'), messageExtra: [utf8('hello', 'en'), utf8('hallo', 'de')] }));
    expect(texts(1)).to.deep.equal(['cost', 'hello']);
    driver = ['de-AT'];
    expect(texts(1)).to.deep.equal(['Kosten', 'hallo']);
    driver = [];
    rig.variables.override('DisplayMessageCtrlr', 'Language', 'it');
    expect(texts(1)).to.deep.equal(['cost', 'bonjour']);
  });
});
