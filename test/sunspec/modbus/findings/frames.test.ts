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

  const times = (count: number, act: () => void) => {
    for (let i = 0; i < count; i += 1) act();
  };

  describe('frame_invalid', () => {
    it('is found on a connection with valid requests, with their number', () => {
      master.read(40_000, 3);
      master.judge?.broken();
      expect(rig.ids()).to.deep.equal(['frame_invalid']);
      expect(rig.caseOf('frame_invalid')?.facts).to.deep.equal({ requests_before: 1 });
    });

    it('is kept by a connection that ends', () => {
      master.read(40_000, 3);
      master.close();
      expect(rig.ids('held')).to.include('frame_invalid');
    });

    it('leaves a stream alone that never was Modbus, such as TLS or HTTP from the same host', () => {
      master.read(40_000, 3);
      rig.connect().judge?.broken();
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('frame_unfinished', () => {
    it('is found on a connection with valid requests', () => {
      master.read(40_000, 3);
      master.judge?.unfinished();
      expect(rig.ids()).to.deep.equal(['frame_unfinished']);
    });

    it('is kept by a connection that ends', () => {
      master.read(40_000, 3);
      master.close();
      expect(rig.ids('held')).to.include('frame_unfinished');
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

    it('is kept by reads of 1 to 125 registers and writes that fit', () => {
      master.read(40_000, 1);
      master.read(40_000, 125);
      master.write('704.WMaxLimPct', 500);
      expect(rig.exercised('quantity_illegal')).to.equal(3);
      expect(rig.ids('held')).to.include('quantity_illegal');
    });

    it('leaves a frame of the wrong length alone', () => {
      expect(master.send(Buffer.from([3, 0x9c, 0x40, 0]))).to.equal(3);
      expect(master.send(Buffer.from([16, 0x9c, 0x40, 0, 1, 2]))).to.equal(3);
      expect(rig.ids().filter((id) => id !== 'refused_write_repeated')).to.deep.equal([]);
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

    it('is kept by a master that takes the first refusal', () => {
      master.send(coils);
      expect(rig.ids('held')).to.include('function_unserved');
    });

    it('leaves the identification in the first minute alone', () => {
      times(9, () => {
        master.send(Buffer.from([43, 14, 1, 0]));
      });
      expect(rig.ids()).to.deep.equal([]);
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

    it('is kept by reads of holding registers', () => {
      times(10, () => {
        master.read(40_000, 3);
      });
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

    it('is kept by ids that differ', () => {
      master.together([{ pdu: first }, { pdu: second }]);
      expect(rig.ids('held')).to.include('transaction_reused');
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
      master.together(requests(17));
      expect(rig.ids()).to.deep.equal(['outstanding_many']);
    });

    it('is kept by two at a time', () => {
      master.together(requests(2));
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
      times(20, () => master.send(readPdu(40_000, 3), 0));
      expect(rig.ids()).to.deep.equal(['unit_zero']);
    });

    it('is kept by a master that names the unit', () => {
      master.read(40_000, 3);
      expect(rig.ids('held')).to.include('unit_zero');
    });

    it('leaves unit 255 and a first try with 0 alone', () => {
      times(19, () => master.send(readPdu(40_000, 3), 0));
      times(20, () => master.send(readPdu(40_000, 3), 255));
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

    it('is kept by a write to one address', () => {
      rig.connect({ address: '/dev/ttyUSB0', transport: 'serial' }).write('704.WMaxLimPct', 500);
      expect(rig.ids('held', rig.peer('/dev/ttyUSB0'))).to.include('broadcast');
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
