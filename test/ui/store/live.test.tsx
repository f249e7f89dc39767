import { expect } from 'chai';
import { render } from 'preact';
import { get } from '../../../src/ui/api/call';
import { Panel } from '../../../src/ui/kit/panel';
import { refresh, outdatedElsewhere, settled, useLive, useShared } from '../../../src/ui/store/live';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { all, leave, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { telemetryOf } from '../support/site.ts';
import { accept, end, send, startPage } from '../support/stream.ts';

type Pace = Parameters<typeof useLive>[1];

/** Shows the rounds of the polling client of a device. */
function Rounds({ device, pace }: { readonly device: number; readonly pace?: Pace }) {
  const { data, problem } = useLive(get('wind', { query: { device } }), pace);
  const { rounds } = (data ?? {}) as { readonly rounds?: number };
  return <b>{problem?.message ?? rounds ?? 'nothing yet'}</b>;
}

/** Answers that a test gives by hand, one for each question. */
class ByHand {
  readonly waiting: ((answer: unknown) => void)[] = [];

  readonly ask = (): Promise<Response> =>
    new Promise((resolve) => {
      this.waiting.push((answer) => resolve(answer instanceof Response ? answer : Response.json(answer)));
    });

  async answer(index: number, answer: unknown): Promise<void> {
    this.waiting[index]?.(answer);
    await settle();
  }
}

describe('answers that follow the simulation', () => {
  let daemon: Daemon;
  let rounds = 0;
  let ticks = 100;
  const asked = () => daemon.to('GET wind').length;
  const nextTick = () => send(telemetryOf(daemon, (ticks += 1))[0]);

  before(startPage);

  beforeEach(async () => {
    rounds = 0;
    daemon = new Daemon().on('GET wind', () => ({ rounds: (rounds += 1) }));
    await accept();
    // the wait after the last read of an earlier test
    await pass(3000);
  });

  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  it('are read at first and at each tick', async () => {
    await show(<Rounds device={0} />);
    expect(textOf()).to.equal('1');
    await pass(1000);
    await nextTick();
    expect(textOf()).to.equal('2');
  });

  it('are read once a second where ticks are faster, and for the last of them too', async () => {
    await show(<Rounds device={0} />);
    for (let tick = 0; tick < 40; tick += 1) {
      await nextTick();
      await pass(30);
    }
    expect(asked()).to.be.within(2, 3);
    const before = asked();
    await pass(1000);
    expect(asked()).to.equal(before + 1);
  });

  it('are read every 5 s without ticks', async () => {
    await show(<Rounds device={0} />);
    await pass(4400);
    expect(asked()).to.equal(1);
    await pass(1100);
    expect(asked()).to.equal(2);
  });

  it('are read at a pace of their own, or after actions only', async () => {
    await show(
      <>
        <Rounds device={0} pace={2000} />
        <Rounds device={1} pace="once" />
      </>,
    );
    // the page looks every 500 ms what is due
    await pass(6500);
    const of = (device: string) => daemon.to('GET wind').filter(({ query }) => query['device'] === device).length;
    expect(of('0')).to.equal(4);
    expect(of('1')).to.equal(1);
    refresh();
    await settle();
    expect(of('1')).to.equal(2);
  });

  it('are read once for all components that show them, at the fastest pace', async () => {
    await show(
      <>
        <Rounds device={0} pace="once" />
        <Rounds device={0} pace={3000} />
        <Rounds device={0} pace={1000} />
      </>,
    );
    const before = asked();
    await pass(3500);
    expect(asked() - before).to.equal(3);
    expect(new Set(all('b').map((each) => each.textContent)).size).to.equal(1);
  });

  it('are one at a time: what comes meanwhile is read once more afterwards', async () => {
    const byHand = new ByHand();
    daemon.on('GET wind', byHand.ask);
    await show(<Rounds device={0} pace="once" />);
    for (let time = 0; time < 3; time += 1) refresh();
    await settle();
    expect(byHand.waiting).to.have.lengthOf(1);
    await byHand.answer(0, { rounds: 1 });
    expect(byHand.waiting).to.have.lengthOf(2);
    await byHand.answer(1, { rounds: 2 });
    expect(byHand.waiting).to.have.lengthOf(2);
    expect(textOf()).to.equal('2');
  });

  it('are awaited until the reading that came meanwhile has ended', async () => {
    const byHand = new ByHand();
    daemon.on('GET wind', byHand.ask);
    await show(<Rounds device={0} />);
    refresh();
    let isSettled = false;
    void settled(get('wind', { query: { device: 0 } })).then(() => (isSettled = true));
    await byHand.answer(0, { rounds: 1 });
    expect([isSettled, textOf()]).to.deep.equal([false, '1']);
    await byHand.answer(1, { rounds: 2 });
    expect([isSettled, textOf()]).to.deep.equal([true, '2']);
    await settled(get('wind', { query: { device: 7 } }));
  });

  it('belong to their address: a late answer about another device is not shown', async () => {
    const byHand = new ByHand();
    daemon.on('GET wind', byHand.ask);
    const root = await show(<Rounds device={0} pace="once" />);
    render(<Rounds device={1} pace="once" />, root);
    await settle();
    await byHand.answer(1, { rounds: 11 });
    await byHand.answer(0, { rounds: 10 });
    expect(textOf()).to.equal('11');
  });

  it('are kept for the next view for two seconds, then forgotten', async () => {
    await show(<Rounds device={0} />);
    daemon.on('GET wind', () => new Promise<Response>(() => undefined));
    await leave();
    await pass(1900);
    await show(<Rounds device={0} />);
    expect(textOf()).to.equal('1');
    await leave();
    await pass(2100);
    await show(<Rounds device={0} />);
    expect(textOf()).to.equal('nothing yet');
  });

  it('are not read while the page is hidden or the connection lost, and at once afterwards', async () => {
    await show(<Rounds device={0} pace={1000} />);
    let isHidden = true;
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
    await pass(5000);
    expect(asked()).to.equal(1);
    isHidden = false;
    document.dispatchEvent(new Event('visibilitychange'));
    await settle();
    expect(asked()).to.equal(2);
    await end();
    await pass(5000);
    expect(asked()).to.equal(2);
    await accept();
    expect(asked()).to.equal(3);
    Reflect.deleteProperty(document, 'hidden');
  });

  it('say why there is nothing, and are tried again every 5 s', async () => {
    daemon.on('GET wind', () => refusal(404, 'The device 0 is no wind turbine.'));
    await show(<Rounds device={0} pace="once" />);
    expect(textOf()).to.equal('The device 0 is no wind turbine.');
    daemon.on('GET wind', () => ({ rounds: 7 }));
    await pass(4400);
    expect(textOf()).to.equal('The device 0 is no wind turbine.');
    await pass(1100);
    expect(textOf()).to.equal('7');
  });

  it('stay when they cannot be read again', async () => {
    await show(<Rounds device={0} pace={1000} />);
    daemon.on('GET wind', () => refusal(503, 'The simulator is stopping.'));
    await pass(1000);
    expect(textOf()).to.equal('1');
  });
});

describe('marks of answers that cannot be read again', () => {
  let daemon: Daemon;

  function Clock() {
    useShared(get('controls/time'), 1000);
    return null;
  }

  const Named = ({ text }: { readonly text: string }) => <Panel title="Turbine">{text}</Panel>;

  /** A component that asks; its panel is drawn by a component inside it. */
  function Turbine() {
    const { data } = useLive(get('wind', { query: { device: 0 } }), 1000);
    return (
      <div>
        <Named text={data === undefined ? 'nothing' : 'turns'} />
      </div>
    );
  }

  function Tank() {
    useLive(get('fuelcell', { query: { device: 0 } }), 1000);
    return <i>tank</i>;
  }

  before(startPage);

  beforeEach(async () => {
    daemon = new Daemon();
    await accept();
    await show(
      <>
        <Clock />
        <Turbine />
        <Panel title="Hydrogen">
          <Tank />
        </Panel>
      </>,
    );
  });

  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  const outdated = () => all('.panel.outdated h2').map((each) => each.textContent);

  it('are on no panel while all is read', () => expect(outdated()).to.deep.equal([]));

  it('are on the panel of the component that asks inside it', async () => {
    daemon.on('GET fuelcell', () => refusal(500, 'The stack is busy.'));
    await pass(2000);
    expect(outdated()).to.deep.equal(['Hydrogen']);
    expect(textOf('.not-read')).to.match(/^not read since 08:\d\d:\d\d UTC: The stack is busy\.$/);
    expect(outdatedElsewhere.value).to.deep.equal([]);
  });

  it('are on the panel that is drawn inside the component that asks', async () => {
    daemon.on('GET wind', () => refusal(500, 'The turbine is busy.'));
    await pass(2000);
    expect(outdated()).to.deep.equal(['Turbine']);
    expect(textOf('.panel.outdated .body')).to.equal('turns');
  });

  it('are named elsewhere for what stands in no panel, but not for a device that was removed', async () => {
    daemon.on('GET controls/time', () => refusal(500, 'The clock is busy.'));
    await pass(2000);
    expect(outdated()).to.deep.equal([]);
    expect(outdatedElsewhere.value.map(({ path }) => path)).to.deep.equal(['controls/time']);
    daemon.on('GET controls/time', () => refusal(404, 'There is no clock.'));
    await pass(2000);
    expect(outdatedElsewhere.value).to.deep.equal([]);
  });

  it('go away with the next answer', async () => {
    daemon.on('GET wind', () => refusal(500, 'The turbine is busy.'));
    await pass(2000);
    daemon.on('GET wind', () => daemon.replyOf('GET', 'wind'));
    await pass(1000);
    expect(outdated()).to.deep.equal([]);
  });

  it('leave the sentence to the banner of the page while there is no daemon', async () => {
    daemon.on('GET wind', () => refusal(500, 'The turbine is busy.'));
    await pass(2000);
    await end();
    expect(outdated()).to.deep.equal(['Turbine']);
    expect(all('.not-read')).to.deep.equal([]);
  });
});
