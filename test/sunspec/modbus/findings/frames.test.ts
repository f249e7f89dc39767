import { expect } from 'chai';
import { JudgeRig, readPdu, writePdu } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: frames', () => {
  let rig: JudgeRig;
  let master: RiggedMaster;

  beforeEach(() => {
    rig = new JudgeRig();
    master = rig.connect();
  });

  afterEach(() => {
    expect(rig.findings.lines.filter((line) => line.includes('failed'))).to.deep.equal([]);
  });

  const times = (count: number, act: () => void) => {
    for (let i = 0; i < count; i += 1) act();
  };

  describe('frame_invalid', () => {
    it('is found on a connection with valid requests, with their number', () => {
      master.read(40_000, 3);
      master.judge?.broken();
      expect(rig.ids()).to.deep.equal(['frame_invalid']);
      const { text, facts } = rig.caseOf('frame_invalid') ?? {};
      expect(facts).to.deep.equal({ requests_before: 1 });
      expect(text).to.equal('sent a frame whose header is not that of Modbus TCP, after 1 request');
    });

    it('is counted once for each connection, with its first request and not with its end', () => {
      master.read(40_000, 3);
      expect(rig.ids('held')).to.include('frame_invalid');
      master.read(40_000, 3);
      master.close();
      expect(rig.exercised('frame_invalid')).to.equal(1);
    });

    it('leaves a stream alone that never was Modbus, such as TLS or HTTP from the same host', () => {
      master.read(40_000, 3);
      rig.connect().judge?.broken();
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('frame_unfinished', () => {
    it('is found on a connection with valid requests', () => {
      times(2, () => master.read(40_000, 3));
      master.judge?.unfinished();
      expect(rig.ids()).to.deep.equal(['frame_unfinished']);
      expect(rig.caseOf('frame_unfinished')?.text).to.equal('began a frame and did not finish it, after 2 requests');
    });

    it('is counted once for each connection with a request, before its end', () => {
      rig.connect().close();
      expect(rig.exercised('frame_unfinished')).to.equal(0);
      times(2, () => master.read(40_000, 3));
      expect(rig.ids('held')).to.include('frame_unfinished');
      master.close();
      expect(rig.exercised('frame_unfinished')).to.equal(1);
    });

    it('leaves a connection without a request alone', () => {
      master.read(40_000, 3);
      rig.connect().judge?.unfinished();
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('quantity_illegal', () => {
    it('is found in reads and writes, with the request', () => {
      expect([master.read(40_000, 0), master.read(40_000, 126)]).to.deep.equal([3, 3]);
      expect(rig.ids()).to.deep.equal(['quantity_illegal']);
      expect(rig.caseOf('quantity_illegal')?.excerpt).to.equal('0001000000060103' + '9c400000');
      rig = new JudgeRig();
      rig.connect().send(writePdu(40_000, []));
      expect(rig.ids()).to.deep.equal(['quantity_illegal']);
      rig = new JudgeRig();
      const wrongByteCount = writePdu(rig.at('704.WMaxLimPct'), [500]);
      wrongByteCount[5] = 1;
      rig.connect().send(wrongByteCount);
      expect(rig.caseOf('quantity_illegal')?.facts).to.deep.equal({ function: 16, registers: 1, byte_count: 1 });
    });

    for (const [pdu, text, octets] of [
      [readPdu(40_000, 0, 4), 'asked for 0 registers in one request of function 4', null],
      [readPdu(40_000, 126), 'asked for 126 registers in one request of function 3', null],
      [readPdu(40_000, 259), 'asked for 259 registers in one request of function 3', null],
      [Buffer.from([16, 0x9c, 0x40, 0, 0, 0]), 'asked for 0 registers in one request of function 16', 0],
      [Buffer.from([16, 0x9c, 0x40, 0, 1, 4, 0, 0]), 'wrote 1 registers with a byte count of 4', 4],
      [Buffer.from([16, 0x9c, 0x40, 0, 200, 2, 0, 0]), 'wrote 200 registers with a byte count of 2', 2],
    ] as const)
      it(`is found in a request that ${text}`, () => {
        expect(master.send(pdu)).to.equal(3);
        expect(rig.ids()).to.deep.equal(['quantity_illegal']);
        expect(rig.caseOf('quantity_illegal')?.text).to.equal(text);
        expect(rig.caseOf('quantity_illegal')?.facts['byte_count']).to.equal(octets);
      });

    it('is kept by reads of 1 to 125 registers and writes that fit', () => {
      master.read(40_000, 1);
      master.read(40_000, 125);
      master.write('704.WMaxLimPct', 500);
      expect(rig.exercised('quantity_illegal')).to.equal(3);
      expect(rig.ids('held')).to.include('quantity_illegal');
    });

    it('is found also in requests to a unit that is not served', () => {
      expect(master.send(readPdu(40_000, 126), 9)).to.equal(11);
      expect(rig.ids()).to.deep.equal(['quantity_illegal']);
    });

    it('is the only finding about a write of no registers that is repeated', () => {
      times(9, () => master.send(writePdu(rig.at('704.WMaxLimPct'), [])));
      expect(rig.ids()).to.deep.equal(['quantity_illegal']);
    });

    it('leaves a frame of the wrong length alone', () => {
      expect(master.send(Buffer.from([3, 0x9c, 0x40, 0]))).to.equal(3);
      for (const tail of [[], [2], [2, 0, 0, 0]])
        expect(master.send(Buffer.from([16, 0x9c, 0x40, 0, 1, ...tail])), String(tail)).to.equal(3);
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.exercised('quantity_illegal')).to.equal(0);
    });
  });

  describe('function_unserved', () => {
    const coils = Buffer.from([1, 0, 0, 0, 1]);

    it('is found at the third repetition', () => {
      times(3, () => {
        expect(master.send(coils)).to.equal(1);
      });
      expect(rig.ids()).to.deep.equal([]);
      master.send(coils);
      expect(rig.ids()).to.deep.equal(['function_unserved']);
      expect(rig.caseOf('function_unserved')?.facts).to.deep.equal({ function: 1, refusals: 4 });
    });

    it('is found for a function that looks like a write of registers', () => {
      const at = rig.at('704.WMaxLimPct');
      times(4, () => master.send(Buffer.from([23, at >> 8, at & 0xff, 0, 1, 2, 0, 5])));
      expect(rig.ids()).to.deep.equal(['function_unserved']);
    });

    it('is kept by a master that takes the first refusal', () => {
      master.send(coils);
      expect(rig.ids('held')).to.include('function_unserved');
    });

    it('leaves the identification in the first minute alone, and finds it afterwards', () => {
      const identify = () => master.send(Buffer.from([43, 14, 1, 0]));
      times(9, identify);
      rig.pass(59.999);
      times(9, identify);
      expect(rig.ids()).to.deep.equal([]);
      rig.pass(0.001);
      times(4, identify);
      expect(rig.ids()).to.deep.equal(['function_unserved']);
    });

    it('leaves other exceptions alone: those of units that are not served, and of rights', () => {
      times(4, () => master.send(coils, 9));
      const reader = rig.connect({ transport: 'tls', certificate: 'ab', role: 'ReadOnlySunSpec' });
      const at = rig.at('704.WMaxLimPct');
      times(4, () => expect(reader.send(Buffer.from([6, at >> 8, at & 0xff, 1, 0]))).to.equal(1));
      expect([...rig.ids(), ...rig.ids('broken', rig.peer('192.0.2.7', 'ab'))]).to.not.include('function_unserved');
    });

    it('counts on for ten minutes after a refusal, and remembers 32 functions', () => {
      const repeat = (pauseS: number) => {
        times(4, () => {
          master.send(coils);
          rig.pass(pauseS);
        });
      };
      repeat(600.001);
      expect(rig.ids()).to.deep.equal([]);
      repeat(600);
      expect(rig.ids()).to.deep.equal(['function_unserved']);
      for (let code = 50; code < 83; code += 1) times(4, () => master.send(Buffer.from([code])));
      expect(rig.findings.row(rig.peer(), 'modbus.function_unserved').broken).to.equal(32);
    });
  });

  it('function_unserved leaves an identification at each daily start alone', () => {
    rig.pass(61);
    times(9, () => {
      master.send(Buffer.from([43, 14, 1, 0]));
      rig.pass(86_400);
    });
    expect(rig.ids()).to.deep.equal([]);
  });

  describe('input_registers', () => {
    it('is found when function 4 prevails', () => {
      times(10, () => {
        master.read(40_000, 3, 4);
      });
      expect(rig.ids()).to.deep.equal(['input_registers']);
      expect(rig.caseOf('input_registers')?.facts).to.deep.equal({ input_reads: 10, holding_reads: 0 });
    });

    it('is kept by ten reads of holding registers, once', () => {
      times(9, () => master.read(40_000, 3));
      expect(rig.exercised('input_registers')).to.equal(0);
      times(11, () => master.read(40_000, 3));
      expect(rig.exercised('input_registers')).to.equal(1);
      expect(rig.ids('held')).to.include('input_registers');
    });

    it('leaves a minority of such reads alone', () => {
      times(11, () => {
        master.read(40_000, 3);
        master.read(40_000, 3, 4);
      });
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('transaction_reused', () => {
    const [first, second] = [readPdu(40_000, 3), readPdu(40_004, 3)];

    it('is found for two requests that arrive together', () => {
      master.together([
        { pdu: first, transaction: 0 },
        { pdu: second, transaction: 0 },
      ]);
      expect(rig.ids()).to.include('transaction_reused');
      expect(rig.caseOf('transaction_reused')?.facts).to.deep.equal({ transaction_id: 0 });
    });

    it('is kept by ids that differ in one of their octets', () => {
      master.together([{ pdu: first }, { pdu: second }]);
      expect(rig.ids('held')).to.include('transaction_reused');
      const ids = [0x102, 0x202, 0x201];
      master.together(ids.map((transaction, i) => ({ pdu: readPdu(40_000, 1 + i), transaction })));
      expect(rig.ids()).to.not.include('transaction_reused');
      expect(rig.exercised('transaction_reused')).to.equal(2);
      master.together([first, second].map((pdu) => ({ pdu, transaction: 0x102 })));
      expect(rig.caseOf('transaction_reused')?.facts).to.deep.equal({ transaction_id: 0x102 });
    });

    it('leaves id 0 of one request at a time alone, and a request that is sent again', () => {
      master.together([{ pdu: first, transaction: 0 }]);
      master.together([{ pdu: second, transaction: 0 }]);
      master.together([
        { pdu: first, transaction: 5 },
        { pdu: first, transaction: 5 },
      ]);
      expect(rig.ids()).to.not.include('transaction_reused');
    });

    it('leaves a connection alone whose answers a fault has shifted, for as long as it lasts', () => {
      const shifted = [first, second].map((pdu) => ({ pdu, transaction: 0 }));
      master.judge?.disturbed();
      rig.pass(60);
      master.together(shifted);
      expect(rig.ids()).to.not.include('transaction_reused');
      expect(rig.ids('undecided')).to.include('transaction_reused');
      rig.connect().together(shifted);
      expect(rig.ids()).to.include('transaction_reused');
    });
  });

  describe('outstanding_many', () => {
    const requests = (count: number) => Array.from({ length: count }, () => ({ pdu: readPdu(40_000, 3) }));

    it('is found above 16', () => {
      master.together(requests(18));
      expect(rig.ids()).to.deep.equal(['outstanding_many']);
      expect(rig.caseOf('outstanding_many')).to.deep.include({
        text: 'sent more than 16 requests at a time',
        facts: { requests: 17 },
      });
      expect(rig.findings.row(rig.peer(), 'modbus.outstanding_many')).to.include({ broken: 1, repeats: 0 });
    });

    it('is kept by two or more at a time, once each time', () => {
      master.together(requests(1));
      expect(rig.exercised('outstanding_many')).to.equal(0);
      master.together(requests(2));
      master.together(requests(5));
      expect(rig.exercised('outstanding_many')).to.equal(2);
      expect(rig.ids('held')).to.include('outstanding_many');
    });

    it('leaves 16 at a time alone', () => {
      master.together(requests(16));
      master.together(requests(16));
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('unit_unserved', () => {
    const ask = () => master.send(readPdu(40_000, 3), 9);

    it('is found two minutes after the first request, with the unit', () => {
      times(6, () => {
        expect(ask()).to.equal(11);
        rig.pass(23);
      });
      expect(rig.ids()).to.deep.equal([]);
      ask();
      expect(rig.ids()).to.deep.equal(['unit_unserved']);
      expect(rig.caseOf('unit_unserved')?.facts).to.deep.equal({ unit_id: 9, requests: 7 });
    });

    it('is found at the sixth request and after two minutes, not before', () => {
      const sixth = (pauseS: number) => {
        times(5, () => {
          ask();
          rig.pass(pauseS);
        });
        expect(rig.ids()).to.deep.equal([]);
        ask();
      };
      sixth(23.99);
      expect(rig.ids()).to.deep.equal([]);
      rig.pass(601);
      sixth(24);
      expect(rig.caseOf('unit_unserved')?.text).to.equal(
        'asked for unit 9, which is not served here, 6 times within 120 s',
      );
      rig = new JudgeRig();
      master = rig.connect();
      sixth(30);
      expect(rig.ids()).to.deep.equal(['unit_unserved']);
    });

    it('is found for 32 units at a time, and not for a scan of more', () => {
      for (const [units, broken] of [
        [32, 32],
        [33, 0],
      ] as const) {
        rig = new JudgeRig();
        master = rig.connect();
        times(6, () => {
          for (let unit = 2; unit < 2 + units; unit += 1) master.send(readPdu(40_000, 3), unit);
          rig.pass(24);
        });
        expect(rig.findings.row(rig.peer(), 'modbus.unit_unserved').broken, String(units)).to.equal(broken);
      }
    });

    it('is kept by a master that takes the first exception', () => {
      ask();
      expect(rig.ids('held')).to.include('unit_unserved');
    });

    it('leaves scans of all units alone', () => {
      for (const pause of [0, 130])
        for (let unit = 2; unit < 12; unit += 1) {
          rig.pass(pause / 10);
          master.send(readPdu(40_000, 3), unit);
        }
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  it('unit_unserved leaves a scan every hour alone', () => {
    times(9, () => {
      master.send(readPdu(40_000, 3), 9);
      rig.pass(3600);
    });
    expect(rig.ids()).to.deep.equal([]);
  });

  it('unit_unserved leaves a unit alone that was served before and has left', () => {
    master.read(40_000, 3);
    rig.service = { ...rig.service, units: () => undefined };
    times(20, () => {
      master.read(40_000, 3);
      rig.pass(10);
    });
    expect(rig.ids()).to.deep.equal([]);
    expect(rig.findings.row(rig.peer(), 'modbus.unit_unserved').undecided).to.equal(20);
  });

  describe('unit_zero', () => {
    it('is found after 20 requests', () => {
      times(19, () => master.send(readPdu(40_000, 3), 0));
      expect(rig.exercised('unit_zero')).to.equal(0);
      times(60, () => master.send(readPdu(40_000, 3), 0));
      expect(rig.ids()).to.deep.equal(['unit_zero']);
      expect(rig.exercised('unit_zero')).to.equal(1);
    });

    it('is kept by a master that names the unit', () => {
      master.read(40_000, 3);
      expect(rig.ids('held')).to.include('unit_zero');
    });

    it('leaves unit 255 and a first try with 0 alone', () => {
      times(19, () => master.send(readPdu(40_000, 3), 0));
      times(20, () => master.send(readPdu(40_000, 3), 255));
      times(25, () => master.send(readPdu(40_000, 3), 0));
      expect(rig.ids().filter((id) => id !== 'unit_unserved')).to.deep.equal([]);
    });
  });

  describe('broadcast', () => {
    it('is found on a serial line', () => {
      const line = rig.connect({ address: '/dev/ttyUSB0', transport: 'serial' });
      line.send(writePdu(rig.at('704.WMaxLimPct'), [500]), 0);
      const peer = rig.peer('/dev/ttyUSB0');
      expect(rig.ids('broken', peer)).to.deep.equal(['broadcast']);
    });

    it('is kept by a write to one address, and not judged by reads', () => {
      const line = rig.connect({ address: '/dev/ttyUSB0', transport: 'serial' });
      const peer = rig.peer('/dev/ttyUSB0');
      for (const unitId of [0, 1]) line.send(readPdu(40_000, 3), unitId);
      expect(rig.exercised('broadcast', peer)).to.equal(0);
      line.write('704.WMaxLimPct', 500);
      expect(rig.ids('held', peer)).to.include('broadcast');
    });

    it('leaves unit id 0 over TCP alone, which means the device of the connection', () => {
      master.send(writePdu(rig.at('704.WMaxLimPct'), [500]), 0);
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  it('says of a serial line that rules about connections cannot be judged', () => {
    rig.connect({ address: '/dev/ttyUSB0', transport: 'serial' }).read(40_000, 3);
    expect(rig.ids('not_observable', rig.peer('/dev/ttyUSB0'))).to.include.members([
      'connection_per_request',
      'frame_invalid',
      'tls_client',
    ]);
  });

  it('judges the map of another maker by frames alone', () => {
    rig.unit = { read: (_address, count) => Buffer.alloc(2 * count), write: () => undefined, deviceIndex: 0 };
    times(30, () => master.read(1, 2, 4));
    master.write(1, 2, 3);
    expect(rig.ids()).to.deep.equal([]);
    expect(rig.ids('not_observable')).to.include.members(['input_registers', 'read_part_of_point', 'enable_forgotten']);
    expect(rig.ids('held')).to.include('quantity_illegal');
  });
});
