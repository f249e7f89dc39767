import { expect } from 'chai';
import { addSeconds } from '../../../../src/core/time/clock.ts';
import { baseFault, hideModelFault } from '../../../../src/fault-kinds/modbus-map.ts';
import { FaultyMaps } from '../../../../src/sunspec/faults/faulty-map.ts';
import { BankUnit } from '../../../../src/sunspec/modbus/unit-bridge.ts';
import { FaultBench } from '../../../support/faults.ts';
import { createTestBank, named } from '../../../support/map.ts';
import { JudgeRig } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: models that move', () => {
  let rig: JudgeRig;
  let bench: FaultBench;
  let master: RiggedMaster;

  beforeEach(() => {
    rig = new JudgeRig();
    bench = new FaultBench([0]);
    afterEach(() => {
      expect(rig.findings.lines.filter((line) => line.includes('failed'))).to.deep.equal([]);
    });

    const { clock, scheduler } = rig.device;
    const maps = new FaultyMaps({
      registry: bench.registry,
      now: () => clock.sim(),
      onTick: () => () => undefined,
      later: (_, delayS, act) => scheduler.at(addSeconds(clock.sim(), delayS), act),
      again: (_, timer, act) => scheduler.again(timer, act),
      log: { info: () => undefined },
    });
    rig.unit = new BankUnit({ index: 0, bank: rig.device.bank }, maps);
    master = rig.connect();
    master.read(40_000, 3);
    master.readPoint('701.W_SF');
    master.readPoint('701.W');
  });

  const move = (base = 50_000) => bench.inject(baseFault, { address: base });
  const moveBack = () => {
    bench.registry.clear();
  };
  const poll = (count: number, point = '701.W') => {
    for (let i = 0; i < count; i += 1) {
      rig.pass(20);
      master.readPoint(point);
    }
  };

  describe('stale_map', () => {
    it('is found after a minute and three requests, with the last one', () => {
      move();
      poll(5);
      expect(rig.ids()).to.deep.equal([]);
      poll(1);
      expect(rig.ids()).to.deep.equal(['stale_map']);
      const { facts } = rig.caseOf('stale_map') ?? {};
      expect(facts).to.deep.equal({ registers: `register ${rig.at('701.W')}`, since_s: 100 });
    });

    it('is found for writes', () => {
      move();
      poll(4);
      expect(master.write('704.WMaxLimPct', 500)).to.equal(2);
      master.write('704.WMaxLimPct', 510);
      expect(rig.ids()).to.deep.equal(['stale_map']);
    });

    it('is found for reads that lie in part where they were, and beyond the moved models', () => {
      const { base, size } = rig.device.layout;
      move();
      for (let i = 0; i < 6; i += 1) {
        rig.pass(20);
        master.read(base + size + 100, 10);
      }
      expect(rig.ids()).to.include('stale_map');
      rig.findings.registry.clear();
      moveBack();
      master.read(40_000, 3);
      bench.inject(hideModelFault, { model: 715 });
      for (let i = 0; i < 6; i += 1) {
        rig.pass(20);
        master.read(rig.at('715.ID') - 1, 2);
      }
      expect(rig.ids()).to.include('stale_map');
    });

    it('is found for reads next to the places of markers', () => {
      move();
      for (let i = 0; i < 6; i += 1) {
        rig.pass(20);
        master.read(39_997, 2);
        master.read(50_003, 2);
      }
      expect(rig.ids()).to.include('stale_map');
    });

    it('leaves a device alone in whose place another one without a map has come', () => {
      rig.unit = { deviceIndex: 0, read: (_, count) => Buffer.alloc(2 * count), write: () => undefined };
      poll(9);
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.exercised('quantity_illegal')).to.be.greaterThan(9);
    });

    it('is kept by a look for the models, at the old place or the new one', () => {
      for (const [address, count] of [
        [40_000, 3],
        [50_000, 3],
        [50_002, 2],
      ] as const) {
        rig.findings.registry.clear();
        move();
        poll(3);
        master.read(address, count);
        poll(10);
        moveBack();
        master.read(40_000, 3);
        expect(rig.exercised('stale_map'), String(address)).to.equal(1);
      }
      expect(rig.ids()).to.deep.equal([]);
    });

    it('leaves registers that have stayed, and masters that came later, alone', () => {
      bench.inject(hideModelFault, { model: 713 });
      poll(20);
      moveBack();
      move();
      const late = rig.connect({ address: '192.0.2.8' });
      for (let i = 0; i < 20; i += 1) {
        rig.pass(20);
        late.readPoint('701.W');
      }
      expect([...rig.ids(), ...rig.ids('broken', rig.peer('192.0.2.8'))]).to.deep.equal([]);
    });
  });

  describe('places of before', () => {
    const half = () => master.read(rig.at('701.TotWhInj') + 1, 1);

    it('are no mistakes after the models have moved back, until the master looks for them', () => {
      move();
      master.read(50_000, 3);
      moveBack();
      rig.pass(40);
      half();
      master.write(rig.at('704.WMaxLimPctRvrtTms'), 0);
      expect(rig.ids()).to.deep.equal([]);
      const undecided = ['read_part_of_point', 'write_part_of_point'].map(
        (rule) => rig.findings.row(rig.peer(), `modbus.${rule}`).undecided,
      );
      expect(undecided).to.deep.equal([1, 1]);
      expect(master.read(40_000, 126)).to.equal(3);
      half();
      expect(rig.ids()).to.deep.equal(['quantity_illegal']);
      rig.findings.registry.clear();
      master.read(40_000, 3);
      half();
      expect(rig.ids()).to.deep.equal(['read_part_of_point']);
    });

    it('are mistakes of a master that has not looked for the moved models', () => {
      move();
      poll(1);
      moveBack();
      half();
      expect(rig.ids()).to.deep.equal(['read_part_of_point']);
    });

    it('are no mistakes at a device that came in the place of another one', () => {
      const other = createTestBank({ classic: true });
      rig.unit = new BankUnit({ index: 0, bank: other.bank });
      const inside = named(other.layout, '701.TotWhInj').address + 1;
      master.read(inside, 1);
      expect(rig.ids()).to.deep.equal([]);
      master.read(40_000, 3);
      rig.pass(2);
      master.read(inside, 1);
      expect(rig.ids()).to.deep.equal(['read_part_of_point']);
    });

    it('have to do with the scale factors of the device before, not with those of the one in its place', () => {
      const other = createTestBank({ classic: true });
      rig.unit = new BankUnit({ index: 0, bank: other.bank });
      const value = named(other.layout, '701.W').address;
      const poll20 = () => {
        for (let i = 0; i < 20; i += 1) {
          rig.pass(10);
          master.read(value, 1);
        }
      };
      poll20();
      expect(rig.ids()).to.deep.equal([]);
      master.read(40_000, 3);
      poll20();
      expect(rig.ids()).to.deep.equal(['scale_factor_unread']);
    });
  });
});
