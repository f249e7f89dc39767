import { expect } from 'chai';
import { del, get, post } from '../../../src/ui/api/call';
import { Action } from '../../../src/ui/kit/action';
import { Dialog, Chip, Empty, Facts } from '../../../src/ui/kit/panel';
import { Parts } from '../../../src/ui/kit/choices';
import { useLive } from '../../../src/ui/store/live';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { address, all, button, leave, one, press, show, showCalls, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

describe('button that makes a call', () => {
  let daemon: Daemon;
  const step = post('controls/time/step', { body: { ticks: 1 } });

  beforeEach(() => {
    daemon = new Daemon();
  });

  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  it('makes it, says done, and has the page read again', async () => {
    function Time() {
      return <b>{useLive(get('controls/time'), 'once').data?.tick}</b>;
    }
    const answers: unknown[] = [];
    await show(
      <>
        <Time />
        <Action call={step} onDone={(answer) => answers.push(answer)}>
          Step
        </Action>
      </>,
    );
    expect(daemon.to('GET controls/time')).to.have.lengthOf(1);
    await press('Step');
    expect(daemon.to('POST controls/time/step').map(({ body }) => body)).to.deep.equal([{ ticks: 1 }]);
    expect(textOf('[role=status]')).to.equal('done');
    expect(daemon.to('GET controls/time')).to.have.lengthOf(2);
    expect(answers).to.deep.equal([daemon.exampleOf('POST', 'controls/time/step')]);
  });

  it('says why it was refused, in the words of the daemon', async () => {
    daemon.on('POST controls/time/step', () => refusal(409, 'The clock is not paused.'));
    await show(<Action call={step}>Step</Action>);
    await press('Step');
    expect(textOf('.problem')).to.equal('The clock is not paused.');
    expect(all('[role=status]')).to.deep.equal([]);
  });

  it('says that the daemon does not answer', async () => {
    await show(<Action call={step}>Step</Action>);
    globalThis.fetch = () => Promise.reject(new TypeError('network'));
    await press('Step');
    expect(textOf('.problem')).to.equal('The daemon does not answer.');
  });

  it('says that an answer was cut off', async () => {
    const headers = { 'content-type': 'application/json' };
    daemon.on('POST controls/time/step', () => new Response('{"tick": 1', { headers }));
    await show(<Action call={step}>Step</Action>);
    await press('Step');
    expect(textOf('.problem')).to.equal('The answer to POST /api/sim/controls/time/step was cut off.');
  });

  it('asks first where it is told to', async () => {
    const questions: (string | undefined)[] = [];
    let isSure = false;
    globalThis.confirm = (question) => {
      questions.push(question);
      return isSure;
    };
    await show(
      <Action call={del('scenarios/{id}', { params: { id: 'a/b' } })} confirm="Delete it?">
        Delete
      </Action>,
    );
    await press('Delete');
    expect(daemon.asked).to.deep.equal([]);
    isSure = true;
    await press('Delete');
    expect(daemon.asked.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(['DELETE scenarios/a%2Fb']);
    expect(questions).to.deep.equal(['Delete it?', 'Delete it?']);
  });

  it('is disabled with its reason', async () => {
    await show(
      <Action call={step} unable="a scenario has the clock" title="space">
        Step
      </Action>,
    );
    expect(button('Step').disabled).to.equal(true);
    expect(button('Step').title).to.equal('a scenario has the clock');
  });

  it('shows its call while the API switch is on, unless that stands elsewhere', async () => {
    await address('#/logs');
    await show(<Action call={step}>Step</Action>);
    expect(all('.call, .call-line')).to.deep.equal([]);
    await showCalls();
    expect(textOf('.call-line code')).to.equal('POST /api/sim/controls/time/step {"ticks":1}');
    await show(
      <Action call={step} curl={false} pressed>
        Step
      </Action>,
    );
    expect(all('.call')).to.deep.equal([]);
    expect(button('Step').getAttribute('aria-pressed')).to.equal('true');
  });
});

describe('parts of a page', () => {
  afterEach(leave);

  it('have the chosen one in the address', async () => {
    await address('#/settings');
    const parts = [
      { name: 'state', title: 'State' },
      { name: 'events', title: 'Events' },
    ];
    await show(<Parts label="Parts" name="csip-part" parts={parts} chosen="state" />);
    expect(all('[aria-pressed=true]').map((each) => each.textContent)).to.deep.equal(['State']);
    await press('Events');
    expect(location.hash).to.equal('#/settings?csip-part=events');
  });

  it('list facts without those that are not there', async () => {
    await show(<Facts rows={[['Power', '1 kW'], null, ['State', <Chip tone="good">on</Chip>]]} />);
    expect(all('dt').map((each) => each.textContent)).to.deep.equal(['Power', 'State']);
    expect(one('dd .chip').className).to.equal('chip good');
  });

  it('say why there is nothing', async () => {
    await show(<Empty>No device yet.</Empty>);
    expect(textOf('.empty')).to.equal('No device yet.');
  });

  it('open a dialog, which closes by its button and beside it', async () => {
    let closed = 0;
    await show(
      <Dialog title="Keys" onClose={() => (closed += 1)}>
        text
      </Dialog>,
    );
    const dialog = one('dialog') as Element as HTMLDialogElement;
    expect(dialog.open).to.equal(true);
    await press('Close');
    expect({ open: dialog.open, closed }).to.deep.equal({ open: false, closed: 1 });
    dialog.showModal();
    one('dialog .stack').click();
    await settle();
    expect(dialog.open).to.equal(true);
    dialog.click();
    await settle();
    expect(dialog.open).to.equal(false);
  });
});
