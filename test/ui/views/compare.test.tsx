import { expect } from 'chai';
import Compare from '../../../src/ui/views/compare/compare';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, textOf, type } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

describe('compare', () => {
  let daemon: Daemon;
  const bodies = (name: string): readonly Json[] => daemon.to(name).map(({ body }) => body);
  const open = async (path: string) => {
    await address(`#/compare/${path}`);
    return show(<Compare />);
  };
  const texts = (selector: string) =>
    all(selector).map((each) => each.textContent.replaceAll('\u200b', '').replace(/\s+/g, ' ').trim());

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForSite(daemon);
    globalThis.confirm = () => true;
  });
  afterEach(async () => {
    await leave();
    await pass(6000);
  });

  describe('side by side', () => {
    /** A comparison in which Modbus shows ten times the register. */
    const withFault = (): Json => {
      const reply = structuredClone(daemon.exampleOf('GET', 'consistency'));
      const [power] = reply.quantities;
      const [, modbus] = power.presentations;
      Object.assign(modbus, {
        value: 39900,
        cause: 'fault',
        agrees: false,
        explanation: "Modbus shows 39900 W and the register has 3990 W: fault 'scale' (3) is on.",
      });
      modbus.shown[0].multiplier = 100;
      const voltage = { ...structuredClone(power), quantity: 'voltage_ln', unit: 'V', description: 'V' };
      voltage.presentations = [{ ...voltage.presentations[0], value: 227.6, place: '701.LNV' }];
      return { ...reply, quantities: [power, voltage] };
    };

    it('has the value in the unit of the row, the raw form, and a sign for each protocol that presents the device', async () => {
      await open('side-by-side');
      expect(texts('.matrix thead th')).to.deep.equal(['Quantity', 'Registers', 'Modbus', 'OCPP']);
      expect(texts('[data-test="active_power"] > *')).to.deep.equal([
        'Active powerkW',
        '=equal: 3.99701.W 399 ×10',
        '=equal: 3.99701.W 399 ×10',
        '≈equal but for rounding: 3.99Power.Active.Export 3987.3Power.Active.Import 0',
      ]);
      expect(textOf()).to.include('Not shown: REST (switched off), Stream (switched off)');
      expect(textOf('.panel header')).to.include('all 1 agree');
    });

    it('tints what differs, explains it with a way to the fault, and says why a cell is empty', async () => {
      daemon.on('GET consistency', withFault);
      await open('side-by-side');
      expect(texts('.matrix td.differs')).to.deep.equal(['≠differs by a fault: 39.90701.W 399 ×100']);
      expect(texts('.explanations li')).to.deep.equal([
        "≠ Modbus, active power: Modbus shows 39900 W and the register has 3990 W: fault 'scale' (3) is on. Show the fault",
      ]);
      expect(one('.explanations a').getAttribute('href')).to.equal('#/inputs/faults');
      expect(texts('[data-test="voltage_ln"] > *')).to.deep.equal([
        'Voltage, line to neutralV',
        '=equal: 227.6701.W 399 ×10',
        '–no register',
        '–not sent',
      ]);
      expect(textOf('.panel header')).to.include('1 of 2 differ');
      await press('Only differences');
      expect(all('.matrix tbody tr')).to.have.length(1);
      expect(location.hash).to.include('show=differences');
    });

    it('asks for the chosen device again after 2 s', async () => {
      await open('side-by-side?device=5');
      const count = daemon.to('GET consistency').length;
      await pass(2500);
      expect(daemon.to('GET consistency').length).to.be.above(count);
      expect(daemon.to('GET consistency').at(-1)?.query['device']).to.equal('5');
    });
  });

  describe('answered and done', () => {
    const reply = (): Json => {
      const example = structuredClone(daemon.exampleOf('GET', 'answers'));
      const [command] = example.answers;
      const told = (name: string, value: number) => ({ ...command.told, name, value });
      const done = { ...command, answer_id: 8, cause: 'done', done: true, explanation: null, faults: [] };
      return {
        ...example,
        count: 3,
        answers: [
          { ...done, told: told('704.WMaxLimPctEna', 1), wall_time: '2026-06-21T12:00:01.000Z' },
          { ...done, answer_id: 9, told: told('704.WSet', 2), wall_time: '2026-06-21T12:00:09.000Z' },
          command,
        ],
        protocols: [
          { protocol: 'modbus', recorded: false, reason: 'its messages are not recorded: POST modbus/messages' },
          { protocol: 'csip', recorded: true, reason: null },
          { protocol: 'ocpp', recorded: false, reason: 'the device is no charging station' },
          { protocol: 'dnp3', recorded: false, reason: 'switched off' },
        ],
      };
    };

    it('has what is not done first, then the newest, with its explanation and fault', async () => {
      daemon.on('GET answers', reply);
      await open('answered');
      expect(texts('tbody td:first-child strong')).to.deep.equal(['704.WMaxLimPct', '704.WSet', '704.WMaxLimPctEna']);
      expect(texts('tbody tr:first-child td').slice(2)).to.deep.equal([
        '50 %',
        '100 %',
        `not done${reply().answers[2].explanation}Show the fault “ignore write”`,
      ]);
      expect(one('tbody a').getAttribute('href')).to.equal('#/protocols/modbus/messages?modbus-message=5');
      expect(textOf('.panel header')).to.include('1 of 3 not done');
    });

    it('records a protocol whose messages are missing, and gives the reason where a recording would not help', async () => {
      daemon.on('GET answers', reply);
      await open('answered');
      expect(texts('.unrecorded li')).to.deep.equal([
        'Record Modbus',
        'OCPP: the device is no charging station',
        'DNP3: switched off',
      ]);
      await press('Record Modbus');
      expect(bodies('POST modbus/messages')).to.deep.equal([{ enabled: true }]);
    });
  });

  describe('head', () => {
    it('starts and stops the recorder, clears it and offers its files', async () => {
      let state = { ...daemon.exampleOf('GET', 'recorder'), enabled: false, entries: 0, bytes: 0 };
      daemon.on('GET recorder', () => state);
      await open('answered');
      await press('Record all: recorder of all messages');
      expect(all('a[download]')).to.deep.equal([]);
      await press('Start');
      state = { ...state, enabled: true, entries: 412, bytes: 268312, since: new Date().toISOString() };
      await pass(2500);
      expect(texts('a[download]')).to.deep.equal(['Download JSONL', 'Download pcap']);
      expect(textOf('.recorder')).to.include('412, 262 KiB of 64 MiB');
      await press('Stop');
      await press('Clear');
      await type('limit_mb', '128');
      await press('Set');
      expect(bodies('POST recorder')).to.deep.equal([
        { enabled: true },
        { enabled: false },
        { enabled: true, clear: true },
        { enabled: true, limit_mb: 128 },
      ]);
    });

    it('saves one document about everything, and the report on each peer', async () => {
      await open('rules');
      await press('Save report');
      expect(
        all('a[download]').map((link) => [link.getAttribute('href'), link.getAttribute('download')]),
      ).to.deep.equal([
        ['/api/sim/evidence?format=html', 'evidence.html'],
        ['/api/sim/evidence?format=junit', 'evidence.xml'],
        ['/api/sim/findings/peers/8e0d71c4a652/report?format=html', 'peer-Head-end-A.html'],
        ['/api/sim/findings/peers/8e0d71c4a652/report?format=junit', 'peer-Head-end-A.xml'],
      ]);
    });
  });

  describe('rules', () => {
    const rule = 'modbus.retry_hasty';

    it('are found by text and protocol', async () => {
      const [first] = daemon.exampleOf('GET', 'findings/rules').rules;
      const other = { ...first, id: 'csip.schema', protocol: 'csip', title: 'A value does not fit', clause: 'sep.xsd' };
      daemon.on('GET findings/rules', () => ({ rules: [first, other] }));
      await open('rules?rule-find=SEP.xsd');
      expect(all('.catalogue > li').map((each) => each.getAttribute('data-test'))).to.deep.equal(['csip.schema']);
      await address('#/compare/rules?rules-of=modbus');
      expect(all('.catalogue > li').map((each) => each.getAttribute('data-test'))).to.deep.equal([rule]);
      await address('#/compare/rules?rules-of=modbus&rule-find=sep');
      expect(textOf()).to.include('No rule matches.');
    });

    it('are switched, made milder, and get other thresholds', async () => {
      await open(`rules?rule=${rule}`);
      await press('Switch off');
      expect([...one('[name=severity]').querySelectorAll('option')].map((each) => each.textContent)).to.deep.equal([
        'risk',
        'remark',
      ]);
      await type('params/interval_s', '2.5');
      await press('Change');
      expect(bodies(`POST findings/rules/${rule}`)).to.deep.equal([
        { enabled: false },
        { severity: 'remark', params: { interval_s: 2.5 } },
      ]);
    });

    it('are exercised for a protocol or alone, and say what is left to the peer', async () => {
      await open(`rules?rule=${rule}&device=2`);
      await press('Exercise DNP3');
      await press('Exercise');
      expect(bodies('POST findings/exercise')).to.deep.equal([
        { protocol: 'dnp3', device: 2 },
        { rules: [rule], device: 2 },
      ]);
      await settle();
      expect(textOf('.started')).to.include('Runs: Writes are refused for a while. Scenario 3');
      expect(textOf('.started')).to.include('One rule is left to the peer');
      expect(button('Exercise').disabled).to.equal(false);
    });
  });
});
