import { expect } from 'chai';
import { modbusAddress } from '../../../src/ui/views/protocols/cards';
import ProtocolsView from '../../../src/ui/views/protocols/protocols';
import { readAddresses, transactionsOf } from '../../../src/ui/views/protocols/modbus/transactions';
import { ratePerMinute } from '../../../src/ui/views/protocols/rate';
import { csipDrawing, dnp3Drawing, ocppDrawing, ocppSummary } from '../../../src/ui/views/protocols/sequence/arrows';
import { Sequence } from '../../../src/ui/kit/sequence';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, leave, one, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerWithCertificates, answerWithSettings } from '../support/settings.ts';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

const none = new Map<number, string>();

describe('protocols', () => {
  let daemon: Daemon;
  const exampleOf = (path: string): Json => structuredClone(daemon.exampleOf('GET', path));

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForSite(daemon);
    answerWithSettings(daemon);
    answerWithCertificates(daemon);
  });
  afterEach(async () => {
    await leave();
    await pass(6000);
  });

  it('say beside the steps to a central system that they are for all stations', async () => {
    const site = exampleOf('overview');
    const stations = (count: number) => ({
      ...site,
      devices: Array.from({ length: count }, (_, index) => ({
        ...site.devices[0],
        device_index: index,
        charge_point_id: `CP-${index}`,
      })),
    });
    for (const count of [1, 3]) {
      daemon.on('GET overview', () => stations(count));
      await address('#/protocols/ocpp/connect');
      await show(<ProtocolsView />);
      const isSaid = textOf('.steps').includes('For all 3 charging stations');
      expect(isSaid, `${count} stations`).to.equal(count === 3);
      await leave();
      await pass(6000);
    }
  });

  describe('cards', () => {
    const toggle = async (path: string) => {
      one(`section:has([data-test="card-${path}"]) [role=switch]`).click();
      await settle();
    };
    const card = (path: string) => textOf(`[data-test="card-${path}"]`);
    const open = async () => {
      await address('#/protocols');
      return show(<ProtocolsView />);
    };

    it('have the address for the other side, peers, traffic and links; of what is off a dash', async () => {
      await open();
      expect(card('modbus')).to.include('127.0.0.1:8502, unit 1').and.to.include('1: 127.0.0.1:50124');
      expect(card('modbus')).to.include('Messages per minute–');
      expect(card('dnp3')).to.include('Address– DNP3 is off');
      expect(all('[data-test="card-ocpp"] a').map((link) => link.getAttribute('href'))).to.deep.equal([
        '#/protocols/ocpp/messages',
        '#/protocols/ocpp/settings',
        '#/protocols/ocpp/connect',
      ]);
    });

    it('count messages per minute while they are in view', async () => {
      const overview = exampleOf('overview');
      daemon.on('GET overview', () => structuredClone(overview));
      await open();
      const counts = overview.comm_status.modbus_tcp;
      counts.rx_count = Number(counts.rx_count) + 10;
      counts.tx_count = Number(counts.tx_count) + 10;
      await pass(10_000);
      expect(card('modbus')).to.match(/Messages per minute1[0-9]{2}Last/);
    });

    it('show the error in words while it lasts', async () => {
      const overview = exampleOf('overview');
      Object.assign(overview.comm_status.ocpp, { enabled: true, state: 'retrying', detail: 'connect ECONNREFUSED' });
      daemon.on('GET overview', () => overview);
      await open();
      expect(card('ocpp')).to.include('Last errorconnect ECONNREFUSED');
    });

    it('show the last error with its time and number also when its cause has gone', async () => {
      const overview = exampleOf('overview');
      const text = '10.0.0.9:5, unit 1: function 6 refused';
      const last = { last_error: text, last_error_at: '2026-03-01T09:29:58.000Z' };
      Object.assign(overview.comm_status.modbus_tcp, { ...last, error_count: 3 });
      daemon.on('GET overview', () => overview);
      await open();
      expect(card('modbus')).to.include(`Last error${text}, at 09:29:58 UTC; 3 since the start`);
    });

    it('have a switch of the SunSpec client, which leads to the form of its device, and off disconnects', async () => {
      const client = exampleOf('sunspec-client');
      daemon.on('GET sunspec-client', () => ({ ...client, enabled: false }));
      await open();
      await toggle('sunspec-client');
      expect(location.hash).to.equal('#/protocols/sunspec-client/state');
      await leave();
      await pass(6000);
      daemon.on('GET sunspec-client', () => ({ ...client, enabled: true }));
      globalThis.confirm = () => true;
      await open();
      await toggle('sunspec-client');
      expect(daemon.to('POST sunspec-client/disconnect')).to.have.lengthOf(1);
    });

    it('switch on at once where no peer is needed, else lead to the steps; off after a question', async () => {
      answerWithSettings(daemon, { mb_enable: { value: false } });
      await open();
      await toggle('modbus');
      expect(daemon.to('POST modbus/enable').map(({ body }) => body)).to.deep.equal([{}]);
      await toggle('ocpp');
      expect(daemon.to('POST ocpp/enable')).to.deep.equal([]);
      expect(location.hash).to.equal('#/protocols/ocpp/connect');
      answerWithSettings(daemon);
      await leave();
      await pass(6000);
      const questions: string[] = [];
      globalThis.confirm = (question) => questions.push(question ?? '') === 0;
      await open();
      await toggle('modbus');
      expect(questions[0]).to.match(/^Switch off Modbus TCP\? Its ports close.* One peer is cut off\.$/);
      expect(daemon.to('POST modbus/disable')).to.deep.equal([]);
    });
  });

  it('the address of Modbus names ports in a row, or each, and the units', () => {
    const at = (port: number, unit_id: number): Json => ({ modbus: { host: 'lab', port, unit_id, tls: false } });
    expect(modbusAddress([at(8502, 1), at(8503, 1), at(8504, 1)])).to.equal('lab:8502 to 8504, unit 1');
    expect(modbusAddress([at(8502, 1), at(8510, 1)])).to.equal('lab:8502, 8510, unit 1');
    expect(modbusAddress([at(8502, 1), at(8502, 2)])).to.equal('lab:8502, units 1 to 2');
    expect(modbusAddress([])).to.equal(null);
  });

  it('a rate needs 4 s, and is that of a minute', () => {
    expect(ratePerMinute([{ atMs: 0, count: 5 }])).to.equal(null);
    expect(
      ratePerMinute([
        { atMs: 0, count: 5 },
        { atMs: 3000, count: 9 },
      ]),
    ).to.equal(null);
    expect(
      ratePerMinute([
        { atMs: 0, count: 5 },
        { atMs: 30_000, count: 15 },
      ]),
    ).to.equal(20);
  });

  describe('Modbus transactions', () => {
    const request = (id: number, more: object = {}): Json => ({
      ...exampleOf('modbus/messages').messages[0],
      id,
      exchange_id: id,
      function: 3,
      ...more,
    });

    it('are a request with its answer', () => {
      const { messages } = exampleOf('modbus/messages');
      const [transaction, ...others] = transactionsOf(messages);
      expect([transaction?.id, transaction?.answer?.id, others.length]).to.deep.equal([1, 2, 0]);
      expect(transactionsOf([messages[0]])[0]).not.to.have.property('answer');
    });

    it('registers read in the last minute are those of reads, not of writes or older ones', () => {
      const at = (s: number) => new Date(Date.parse('2026-06-21T12:00:00Z') + s * 1000).toISOString();
      const read = readAddresses([
        request(1, { address: 10, count: 5, wall_time: at(0) }),
        request(2, { address: 40, count: 2, wall_time: at(61) }),
        request(3, { address: 50, count: 1, function: 16, wall_time: at(61) }),
        request(4, { address: 60, count: 1, function: 4, wall_time: at(90) }),
      ]);
      expect([...read]).to.deep.equal([40, 41, 60]);
    });

    it('show their range, answer and exception, and models that nobody reads', async () => {
      const { messages, ...reply } = exampleOf('modbus/messages');
      const answer = {
        ...messages[1],
        id: 4,
        exchange_id: 3,
        exception_code: 2,
        exception_name: 'illegal data address',
      };
      const second = request(3, { address: 40_070, count: 155, points: ['701.W'], values: null });
      daemon.on('GET modbus/messages', ({ query }) => ({
        ...reply,
        messages: query['after_id'] === undefined ? [...messages, second, answer] : [],
      }));
      await address('#/protocols/modbus/transactions?modbus-message=4');
      await show(<ProtocolsView />);
      const rows = all('table[aria-label="Modbus transactions"] tbody tr').map((row) => row.textContent);
      expect(rows).to.have.length(2);
      expect(rows[0]).to.include('40310..40311').and.to.include('704.WMaxLimPct = 50').and.to.include('answered');
      expect(rows[1]).to.include('40070..40224').and.to.include('exception 2 (illegal data address)');
      expect(textOf('pre[aria-label="Octets of the answer"]')).to.not.equal('');
      const strip = all('.read-strip li').map((each) => each.textContent);
      expect(strip.find((text) => text.startsWith('701'))).to.include('155 of 155');
      expect(strip.find((text) => text.startsWith('704'))).to.include('not read');
    });

    it('have what they changed, why they were refused, and the rule that they broke', async () => {
      const { messages, ...reply } = exampleOf('modbus/messages');
      daemon.on('GET modbus/messages', ({ query }) => ({
        ...reply,
        messages: query['after_id'] === undefined ? [...messages, request(3), request(5)] : [],
      }));
      const [entry] = exampleOf('timeline').entries;
      const told = (id: number, text: string, message: string | null) => ({
        ...entry,
        id,
        kind: 'peer',
        text,
        message,
      });
      daemon.on('GET timeline', () => ({
        ...exampleOf('timeline'),
        entries: [told(41, 'Set A.', 'modbus/1'), told(42, 'Set B.', 'dnp3/3'), told(43, 'B is bad.', 'modbus/3')],
      }));
      const findings = exampleOf('findings');
      const [finding] = findings.findings;
      const evidence = { ...finding.evidence[0], channel: 'modbus', message_id: 2, excuse: null, text: 'It did.' };
      daemon.on('GET findings', () => ({ ...findings, findings: [{ ...finding, title: 'R', evidence: [evidence] }] }));
      await address('#/protocols/modbus/transactions?modbus-message=1');
      await show(<ProtocolsView />);
      const cells = all('table[aria-label="Modbus transactions"] tbody tr td:last-child');
      expect(cells.map(({ textContent }) => textContent)).to.deep.equal(['Set A.R: It did.', 'B is bad.', '–']);
      expect(all('a[href="#/events/timeline?entry=41"]').map(({ textContent }) => textContent)).to.deep.equal([
        'Set A.',
      ]);
    });
  });

  describe('sequence', () => {
    const at = (s: number) => new Date(Date.parse('2026-06-21T12:00:00Z') + s * 1000).toISOString();

    it('of OCPP goes from the station to its system, and says what a call is about', () => {
      const [call, result] = exampleOf('ocpp/CP-1/messages').messages;
      const status = { ...call, id: 14, action: 'StatusNotification', payload: { connectorId: 1, status: 'Charging' } };
      const { lifelines, arrows } = ocppDrawing(
        [status, call, result],
        'CP-1',
        'ws://lab',
        new Map([[13, 'too late']]),
      );
      expect(lifelines).to.deep.equal(['CP-1', 'ws://lab']);
      expect(arrows.map(({ text, from, to }) => [text, from, to])).to.deep.equal([
        ['StatusNotification, connector 1, Charging', 0, 1],
        ['Heartbeat', 0, 1],
        ['Heartbeat answered', 1, 0],
      ]);
      expect(ocppSummary(status.payload)).to.equal('connector 1, Charging');
      expect(ocppSummary({})).to.equal('');
      expect(arrows[2]).to.include({ tookMs: 3.2, broken: 'too late', failed: false });
    });

    it('of CSIP has lanes for polls, events and responses', () => {
      const [poll] = exampleOf('csip/messages').messages;
      const event = { ...poll, id: 2, url: 'https://lab/derp/0/derc', response_body: '<DERControlList all="1">' };
      const response = {
        ...poll,
        id: 3,
        method: 'POST',
        request_body: '<DERControlResponse>',
        response_body: null,
        status: 404,
      };
      const { arrows } = csipDrawing([poll, event, response], none);
      expect(arrows.map(({ to, text, failed }) => [to, text, failed])).to.deep.equal([
        [1, 'GET /dcap: 200 DeviceCapability', false],
        [2, 'GET /derp/0/derc: 200 DERControlList', false],
        [3, 'POST /dcap: 404 DERControlResponse', true],
      ]);
    });

    it('of DNP3 has a lifeline for each master, and the time of each answer', () => {
      const [read] = exampleOf('dnp3/messages').messages;
      const answer = {
        ...read,
        id: 2,
        timestamp: at(0.5),
        direction: 'out',
        function: 'response',
        iin: [],
        objects: [],
      };
      const other = { ...read, id: 3, peer: '5@lab', sequence: 7 };
      const { lifelines, arrows } = dnp3Drawing([{ ...read, timestamp: at(0) }, answer, other], none);
      expect(lifelines).to.deep.equal(['Outstation', '4@127.0.0.1:50123', '5@lab']);
      expect(arrows.map(({ from, to, tookMs }) => [from, to, tookMs])).to.deep.equal([
        [1, 0, null],
        [0, 1, 500],
        [2, 0, null],
      ]);
      expect(arrows[0]?.text).to.equal('read g60v2 all, g60v3 all and 2 more');
    });

    it('breaks at silences above 5 s, and has the broken rule at its red arrow', async () => {
      const arrow = (id: number, s: number, more: object = {}) => ({
        id,
        at: at(s),
        from: 0,
        to: 1,
        text: `m${id}`,
        ...more,
      });
      await show(
        <Sequence
          label="Messages"
          lifelines={['a', 'b']}
          arrows={[arrow(1, 0), arrow(2, 5), arrow(3, 36.2, { broken: '30 s allowed, 31.2 s taken', tookMs: 31_200 })]}
          empty=""
        />,
      );
      expect(all('.break').map((each) => each.textContent)).to.deep.equal([
        '31\u00a0s without a message',
        '30 s allowed, 31.2 s taken',
      ]);
      expect(all('.arrow.bad .words').map((each) => each.textContent)).to.deep.equal(['m3, 31.2\u00a0s']);
    });
  });
});
