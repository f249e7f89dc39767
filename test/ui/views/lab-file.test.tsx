import { expect } from 'chai';
import { LabFile } from '../../../src/ui/views/settings/lab-file';
import { lineOf } from '../../../src/ui/views/settings/yaml-lines';
import { StreamClients } from '../../../src/ui/views/simulator/stream-clients';
import { Daemon, refusal } from '../support/daemon.ts';
import { all, button, leave, one, press, show, textOf, type } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const lab = [
  '# two kinds',
  'log_level: debug',
  'devices:',
  '  - device_type: PV',
  '  - count: 2',
  '    device_type: Batt',
];

describe('lines that objections are about', () => {
  const text = lab.join('\n');
  const cases: readonly (readonly [pointer: string, line: number | null])[] = [
    ['/log_level', 2],
    ['/devices', 3],
    ['/devices/0', 4],
    ['/devices/1/device_type', 6],
    // a member that the text does not have: the entry that lacks it
    ['/devices/1/name', 5],
    ['/grid', null],
    ['', null],
  ];
  for (const [pointer, line] of cases)
    it(`${pointer || 'the whole'} is ${line === null ? 'in no line' : `in line ${line}`}`, () => {
      expect(lineOf(text, pointer)).to.equal(line);
    });

  it('are found in lists at the indent of their key, and in a sentence', () => {
    expect(lineOf('devices:\n- a: 1\n- b:\n    c: 2\nx: 3', '/devices/1/b/c')).to.equal(4);
    expect(lineOf('devices:\n- a: 1\nx: 3', '/x')).to.equal(3);
    expect(lineOf(text, '', 'bad indentation at line 5, column 3')).to.equal(5);
  });
});

describe('another lab', () => {
  let daemon: Daemon;
  const bodies = () => daemon.to('POST config').map(({ body }) => body);

  beforeEach(async () => {
    daemon = new Daemon();
    globalThis.confirm = () => true;
    await show(<LabFile />);
  });
  afterEach(leave);

  it('is checked first, says what will change, and is loaded as it was checked', async () => {
    const text = lab.join('\n');
    expect(button('Check').disabled).to.equal(true);
    await type('lab', text);
    await press('Check');
    expect(textOf('[role=status] dl')).to.match(/^Devices2 in place of 1Settings that changelog_level/);
    await press('Load this lab');
    expect(bodies()).to.deep.equal([{ yaml: text, dry_run: true }, { yaml: text }]);
    // a changed text has to be checked again
    await press('Check');
    await type('lab', `${text}\n`);
    expect(all('button.primary').map(({ textContent }) => textContent)).to.deep.equal(['Check']);
  });

  it('takes the text of a file', async () => {
    const input = one('[type=file]');
    Object.defineProperty(input, 'files', { value: [{ text: () => Promise.resolve('devices: []') }] });
    input.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
    expect(one('[name=lab]').value).to.equal('devices: []');
  });

  it('shows each refusal with its line, which a press selects', async () => {
    const issue = { in: 'body', name: '/devices/1/device_type', detail: 'given "Batt"; allowed: PV-3Phase' };
    daemon.on('POST config', () => refusal(422, 'two members', [issue, { in: 'body', name: '', detail: 'too many' }]));
    await type('lab', lab.join('\n'));
    await press('Check');
    expect(all('ul.problem li').map(({ textContent }) => textContent)).to.deep.equal([
      'Line 6: /devices/1/device_type given "Batt"; allowed: PV-3Phase',
      ' too many',
    ]);
    await press('Line 6');
    const { value, selectionStart, selectionEnd } = one('[name=lab]');
    expect(value.slice(selectionStart ?? 0, selectionEnd ?? 0)).to.equal('    device_type: Batt');
    expect(all('button.primary').map(({ textContent }) => textContent)).to.deep.equal(['Check']);
  });

  it('returns to the lab of the start', async () => {
    await press('Check the lab of the start');
    await press('Return to the lab of the start');
    expect(bodies()).to.deep.equal([{ config: null, dry_run: true }, { config: null }]);
  });

  it('cannot take the place of a lab that a script has started', async () => {
    daemon.on('POST config', () => ({ ...daemon.exampleOf('POST', 'config'), can_restart: false }));
    await press('Check the lab of the start');
    expect(button('Return to the lab of the start').disabled).to.equal(true);
  });
});

describe('readers of the stream', () => {
  afterEach(leave);

  it('say what they read, how far they are behind, and what they lost', async () => {
    const daemon = new Daemon();
    const report = daemon.exampleOf('GET', 'stream/clients');
    const [client] = report.clients;
    const clients = [
      client,
      { ...client, id: 2, form: 'fleet', max_rate: 2, waiting: 3, dropped: 7, pong_age_s: null },
      { ...client, id: 3, device_index: 4, waiting: 3, pong_age_s: 75 },
    ];
    daemon.on('GET stream/clients', () => ({ ...report, count: 3, clients }));
    await show(<StreamClients />);
    expect(textOf('h2')).to.equal('Readers of the stream (3)');
    const column = (number: number) => all(`tbody td:nth-child(${number})`).map(({ textContent }) => textContent);
    expect(column(2)).to.deep.equal(['all devices', 'all devices, in columns, 2 per second at most', 'device 4']);
    expect(column(4)).to.deep.equal(['keeps up', '3 messages behind', 'silent for 1:15']);
    expect(column(6)).to.deep.equal(['0', '7', '0']);
  });
});
