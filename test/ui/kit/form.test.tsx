import { expect } from 'chai';
import { render } from 'preact';
import { anyCall } from '../../../src/ui/api/call';
import { Form } from '../../../src/ui/kit/form';
import type { Field } from '../../../src/ui/kit/form';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { all, button, leave, one, press, show, showCalls, textOf, tick, type } from '../support/page.tsx';
import { callOf } from '../support/shown.ts';

const fields: readonly Field[] = [
  { kind: 'number', name: 'power_kw', label: 'Power', unit: 'kW', min: -5, max: 5 },
  { kind: 'text', name: 'reason', label: 'Reason', hint: 'for the log' },
  { kind: 'choice', name: 'mode', label: 'Mode', options: ['run_fast', ['off', 'Standing']] },
  { kind: 'check', name: 'send', label: 'Send the value', value: true },
  { kind: 'text', name: 'password', label: 'Password', secret: true },
  { kind: 'text', name: 'key', label: 'Key', lines: 4, secret: true },
];

type Options = Omit<Parameters<typeof Form>[0], 'fields' | 'call' | 'submit'> & { readonly fields?: readonly Field[] };

const form = (options: Options = {}) => (
  <Form fields={fields} {...options} submit="Send" call={(values) => anyCall('POST', 'commands', {}, values)} />
);

const shownBody = () => callOf(one('.call-line').getAttribute('title') ?? '').body;

describe('form', () => {
  let daemon: Daemon;
  const sent = () => daemon.to('POST commands').map(({ body }) => body);

  beforeEach(() => {
    daemon = new Daemon().on('POST commands', () => ({}));
    return showCalls();
  });

  afterEach(async () => {
    await leave();
    await pass(5000);
  });

  it('sends values by their kind, without fields that are empty', async () => {
    await show(form());
    await type('power_kw', '-1.5');
    await type('mode', 'run_fast');
    await press('Send');
    expect(sent()).to.deep.equal([{ power_kw: -1.5, mode: 'run_fast', send: true }]);
    await tick('send', false);
    await type('mode', '');
    await press('Send');
    expect(sent()[1]).to.deep.equal({ power_kw: -1.5, send: false });
  });

  it('tells the daemon that the dashboard calls', async () => {
    await show(form());
    await press('Send');
    expect(daemon.asked[0]?.headers).to.deep.equal({
      'X-Derbench-Client': 'dashboard',
      'Content-Type': 'application/json',
    });
  });

  it('shows the call while it is typed', async () => {
    await show(form());
    expect(shownBody()).to.deep.equal({ send: true });
    await type('reason', "it's 5 o'clock");
    expect(shownBody()).to.deep.equal({ reason: "it's 5 o'clock", send: true });
    expect(daemon.asked).to.deep.equal([]);
  });

  it('sends a secret, and shows it nowhere', async () => {
    await show(form());
    await type('password', 'correct horse');
    await type('key', 'battery staple');
    expect(shownBody()).to.include({ password: '...', key: '...' });
    expect(document.body.innerHTML).not.to.match(/horse|staple/);
    expect(one('[name=password]').type).to.equal('password');
    expect(one('[name=key]').getAttribute('autocomplete')).to.equal('off');
    await press('Send');
    expect(sent()[0]).to.include({ password: 'correct horse', key: 'battery staple' });
  });

  it('has no dots in the call for a secret that is empty', async () => {
    await show(form());
    expect(shownBody()).not.to.have.any.keys('password', 'key');
  });

  it('shows a refusal in the words of the daemon, and at the field at fault', async () => {
    const errors = [
      { in: 'body', name: '/power_kw', detail: 'must be at most 5' },
      { in: 'body', name: '/mode/0', detail: 'is no mode' },
    ];
    daemon.on('POST commands', () => refusal(400, 'Two members are wrong.', errors));
    await show(form());
    await type('power_kw', '6');
    await press('Send');
    expect(textOf('.problem')).to.equal('Two members are wrong.');
    const issues = all('.issue').map((each) => [
      each.parentElement?.querySelector('span')?.textContent,
      each.textContent,
    ]);
    expect(issues).to.deep.equal([
      ['Power, kW', 'must be at most 5'],
      ['Mode', 'is no mode'],
    ]);
    expect(one('[name=power_kw]').getAttribute('aria-invalid')).to.equal('true');
    expect(one('[name=reason]').getAttribute('aria-invalid')).to.equal('false');
    expect(one('[name=power_kw]').value).to.equal('6');
  });

  it('takes the refusal away when something else succeeds', async () => {
    daemon.on('POST commands', () => refusal(400, 'No.'));
    await show(form());
    await press('Send');
    daemon.on('POST commands', () => ({}));
    await press('Send');
    expect(all('.problem')).to.deep.equal([]);
    expect(textOf('[role=status]')).to.equal('done');
  });

  it('says done until something is typed', async () => {
    await show(form());
    await press('Send');
    expect(textOf('[role=status]')).to.equal('done');
    await type('reason', 'x');
    expect(all('[role=status]')).to.deep.equal([]);
  });

  it('does not send a text in a number field, which the browser gives as empty', async () => {
    await show(form());
    Object.defineProperty(one('[name=power_kw]'), 'validity', { value: { badInput: true } });
    await press('Send');
    expect(sent()).to.deep.equal([]);
    expect(textOf('.issue')).to.equal('must be a number');
  });

  it('cannot be sent twice at once', async () => {
    let answer: (content: Response) => void = () => undefined;
    daemon.on('POST commands', () => new Promise<Response>((resolve) => (answer = resolve)));
    await show(form());
    await press('Send');
    expect(button('Send').disabled).to.equal(true);
    answer(Response.json({}));
    await pass(0);
    expect(button('Send').disabled).to.equal(false);
    expect(sent()).to.have.lengthOf(1);
  });

  it('says why it cannot be sent now', async () => {
    await show(form({ unable: 'nothing is plugged in' }));
    expect(button('Send').disabled).to.equal(true);
    expect(button('Send').title).to.equal('nothing is plugged in');
    expect(textOf('small.muted')).to.equal('nothing is plugged in');
  });

  it('follows its start values until a field is touched, and again after it was sent', async () => {
    const at = (value: number): readonly Field[] => [{ kind: 'number', name: 'rate', label: 'Rate', value }];
    const root = await show(form({ fields: at(1) }));
    const rate = () => one('[name=rate]').value;
    render(form({ fields: at(2) }), root);
    expect(rate()).to.equal('2');
    await type('rate', '9');
    render(form({ fields: at(3) }), root);
    expect(rate()).to.equal('9');
    await press('Send');
    expect(sent()).to.deep.equal([{ rate: 9 }]);
    render(form({ fields: at(4) }), root);
    expect(rate()).to.equal('4');
  });

  it('keeps what is typed while it is sent, also in a field with a start value', async () => {
    let answer: (content: Response) => void = () => undefined;
    daemon.on('POST commands', () => new Promise<Response>((resolve) => (answer = resolve)));
    const at = (value: number): readonly Field[] => [
      { kind: 'number', name: 'rate', label: 'Rate', value },
      { kind: 'number', name: 'limit', label: 'Limit', value },
    ];
    const root = await show(form({ fields: at(1) }));
    await type('rate', '8');
    await type('limit', '7');
    await press('Send');
    await type('rate', '9');
    answer(Response.json({}));
    await pass(0);
    render(form({ fields: at(2) }), root);
    expect([one('[name=rate]').value, one('[name=limit]').value]).to.deep.equal(['9', '2']);
  });

  it('can wait for a change, and does not take an emptied field for one', async () => {
    const fieldsOf: readonly Field[] = [{ kind: 'number', name: 'rate', label: 'Rate', value: 3 }];
    await show(form({ fields: fieldsOf, needsChange: true }));
    expect(button('Send').disabled).to.equal(true);
    await type('rate', '');
    expect(button('Send').disabled).to.equal(false);
    await press('Send');
    expect(sent()).to.deep.equal([]);
    expect(textOf('.issue')).to.equal('must be a number');
    await type('rate', '3');
    expect(button('Send').disabled).to.equal(true);
  });

  it('offers choices with their labels, an empty one first unless there is a value', async () => {
    const choice = (value?: string): readonly Field[] => [
      {
        kind: 'choice',
        name: 'mode',
        label: 'Mode',
        options: ['run_fast', ['off', 'Standing']],
        ...(value && { value }),
      },
    ];
    const options = () => all('option').map((each) => each.textContent);
    await show(form({ fields: choice() }));
    expect(options()).to.deep.equal(['', 'run fast', 'Standing']);
    await show(form({ fields: choice('off') }));
    expect(options()).to.deep.equal(['run fast', 'Standing']);
    expect(shownBody()).to.deep.equal({ mode: 'off' });
  });
});
