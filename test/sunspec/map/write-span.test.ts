import { expect } from 'chai';
import { partialWriteFault } from '../../../src/fault-kinds/modbus-map.ts';
import { Acceptance } from '../../../src/sunspec/faults/acceptance.ts';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import { buildLayout } from '../../../src/sunspec/map/layout.ts';
import type { ModelDef } from '../../../src/sunspec/map/types.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { m103 } from '../../../src/sunspec/models/m103.ts';
import { m123 } from '../../../src/sunspec/models/m123.ts';
import { m702 } from '../../../src/sunspec/models/m702.ts';
import { m704 } from '../../../src/sunspec/models/m704.ts';
import { m715 } from '../../../src/sunspec/models/m715.ts';
import { checkWriteRight } from '../../../src/sunspec/modbus/access/access-bridge.ts';
import { namesInLayout } from '../../../src/sunspec/modbus/names-bridge.ts';
import { FaultBench } from '../../support/faults.ts';
import { byModbus, codeOf, HandClock, mapChoices, slotOf, words } from '../../support/map.ts';

const scale = Object.fromEntries(m103.points.filter(({ type }) => type === 'sunssf').map(({ name }) => [name, 0]));
/** Of the classic models that devices serve, none has a point of two registers that can be written. */
const wide: ModelDef = {
  id: 150,
  name: 'wide',
  label: 'Classic model with wide points',
  points: [
    { name: 'ID', type: 'uint16', size: 1, label: 'Model number' },
    { name: 'L', type: 'uint16', size: 1, label: 'Registers after this one' },
    { name: 'Set', type: 'uint16', size: 1, access: 'RW', label: 'Setting' },
    { name: 'WideSet', type: 'uint32', size: 2, access: 'RW', label: 'Wide setting' },
  ],
};
const usual = (model: ModelDef) => mapChoices().find(({ def }) => def === model)!;
/** 702, 704 and 715 in front of classic models, one of which ends the chain. */
const layout = buildLayout([
  usual(m702),
  usual(m704),
  { def: m103, scale },
  { def: wide },
  { def: m715 },
  { def: m123, scale: { WMaxLimPct_SF: 0, OutPFSet_SF: -2 }, omit: new Set(['VArWMaxPct', 'VArMaxPct', 'VArAvalPct']) },
]);

function bankOf() {
  const bank = new RegisterBank(layout, layout.blank(), new HandClock());
  bank.measurements.m702.CtrlModes = 0x3fff;
  const committed: string[][] = [];
  bank.onChange(({ points }) => committed.push(points.map(pointName)));
  return { bank, committed };
}

const at = (modelId: number, path: string) => slotOf(layout, modelId, path).address;
const place123 = layout.models.at(-1)!;
const whole = place123.length + 2;

/** All of model 123: a limit of 60 %, connected; what is read only or not implemented as `other`. */
function all123(other: number, changes: Readonly<Record<string, number>> = {}): Buffer {
  const given: Readonly<Record<string, number>> = { Conn: 1, WMaxLimPct: 60, WMaxLim_Ena: 1, ...changes };
  return words(...place123.slots.map(({ path, writable }) => given[path] ?? (writable ? 0 : other)));
}

describe('writes of classic models (SunSpec Information Model Specification 1.9)', () => {
  it('a model is written whole: ID, L, scale factors and what is not implemented stay', () => {
    for (const other of [0, 999, 0xffff]) {
      const { bank, committed } = bankOf();
      const before = place123.slots.filter(({ writable }) => !writable).map((slot) => bank.raw(slot));
      bank.write(place123.address, all123(other), byModbus);
      const taken = place123.slots.filter(({ writable }) => writable);
      expect(committed).to.deep.equal([taken.map(pointName)]);
      expect(place123.slots.filter(({ writable }) => !writable).map((slot) => bank.raw(slot))).to.deep.equal(before);
      expect([bank.value(slotOf(layout, 123, 'WMaxLimPct')), bank.value(slotOf(layout, 123, 'Conn'))]).to.deep.equal([
        60,
        'CONNECT',
      ]);
    }
  });

  it('a bad value among them refuses the whole', () => {
    const { bank, committed } = bankOf();
    const before = Buffer.from(bank.read(layout.base, layout.size));
    expect(
      codeOf(() => {
        bank.write(place123.address, all123(0, { WMaxLim_Ena: 7 }), byModbus);
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(bank.read(layout.base, layout.size).equals(before)).to.equal(true);
    expect(committed).to.deep.equal([]);
  });

  const refusals: readonly (readonly [string, number, number, string])[] = [
    ['of ID and L alone', place123.address, 2, 'MAP_READ_ONLY'],
    ['of a scale factor alone', at(123, 'WMaxLimPct_SF'), 1, 'MAP_READ_ONLY'],
    ['of an unimplemented point alone', at(123, 'VArMaxPct'), 1, 'MAP_NOT_IMPLEMENTED'],
    ['of measured points alone', at(103, 'A'), 10, 'MAP_READ_ONLY'],
    ['that reaches the end model', at(123, 'VArPct_Ena'), 5, 'MAP_READ_ONLY'],
    ['that reaches the ID of a 700 model', at(150, 'WideSet'), 3, 'MAP_READ_ONLY'],
    ['that ends in a part of a classic point', at(150, 'Set'), 2, 'MAP_PARTIAL_POINT'],
    ['that begins in one', at(150, 'WideSet') + 1, 1, 'MAP_PARTIAL_POINT'],
    ['of read-only points of 704', at(704, 'PFWInjRvrtTms'), 4, 'MAP_READ_ONLY'],
  ];
  for (const [what, address, count, code] of refusals) {
    it(`a write ${what} is refused`, () => {
      const { bank, committed } = bankOf();
      expect(
        codeOf(() => {
          bank.write(address, Buffer.alloc(2 * count), byModbus);
        }),
      ).to.equal(code);
      expect(committed).to.deep.equal([]);
    });
  }

  it('in a write over two models each point follows the rule of its own', () => {
    const { bank, committed } = bankOf();
    // 715.OpCtl, and of 123 the ID, L and Conn_WinTms
    bank.write(at(715, 'OpCtl'), words(1, 0, 0, 30), byModbus);
    expect(committed).to.deep.equal([['715.OpCtl', '123.Conn_WinTms']]);
    // half of a measured point of 103, which is ignored like the whole
    bank.write(at(103, 'EvtVnd4') + 1, words(0, 0, 0, 7), byModbus);
    expect(committed[1]).to.deep.equal(['150.Set']);
  });

  it('faults of the acceptance layer act on the points that are taken', () => {
    const { bank, committed } = bankOf();
    const faults = new FaultBench();
    faults.inject(partialWriteFault, { landing_points: 2 });
    const acceptance = new Acceptance({
      deviceIndex: 0,
      bank,
      later: () => {
        throw new Error('nothing is late');
      },
      again: () => {
        throw new Error('nothing is late');
      },
      log: { info: () => undefined },
    });
    acceptance.writeThrough(faults.registry.active, place123.address, all123(999), byModbus);
    expect(committed).to.deep.equal([['123.Conn_WinTms', '123.Conn_RvrtTms']]);
  });

  it('the wire log names what is ignored', () => {
    const asked = { address: place123.address, count: whole };
    const names = namesInLayout(layout, asked, null);
    expect(names.ignored).to.deep.equal(place123.slots.filter(({ writable }) => !writable).map(pointName));
    expect(names.points).to.include.members([...names.ignored]);
    // these are refused
    expect(namesInLayout(layout, { address: place123.address, count: 2 }, null).ignored).to.deep.equal([]);
    expect(namesInLayout(layout, { address: at(704, 'PFWInjRvrtTms'), count: 4 }, null).ignored).to.deep.equal([]);
  });

  it('what is ignored needs no right of a role', () => {
    const rightTo = (role: 'GridServiceSunSpec' | 'NetworkAdministratorSunSpec' | 'ReadOnlySunSpec' | null) =>
      codeOf(() => {
        checkWriteRight(layout, role, place123.address, whole);
      });
    expect(rightTo('GridServiceSunSpec')).to.equal(null);
    for (const role of ['NetworkAdministratorSunSpec', 'ReadOnlySunSpec', null] as const)
      expect(rightTo(role)).to.equal('ACCESS_DENIED');
    // unimplemented, so that the map answers and not the role
    expect(
      codeOf(() => {
        checkWriteRight(layout, 'NetworkAdministratorSunSpec', at(123, 'VArMaxPct'), 1);
      }),
    ).to.equal(null);
  });
});
