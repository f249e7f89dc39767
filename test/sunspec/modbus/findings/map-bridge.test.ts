import { expect } from 'chai';
import { JudgedMap } from '../../../../src/sunspec/modbus/findings/map-bridge.ts';
import type { WriteFacts } from '../../../../src/sunspec/modbus/findings/map-bridge.ts';
import { pointName } from '../../../../src/sunspec/map/view.ts';
import { byModbus, byRest, createTestBank, named, words } from '../../../support/map.ts';
import type { TestBank } from '../../../support/map.ts';

describe('findings of Modbus: facts about maps', () => {
  let device: TestBank;
  let map: JudgedMap;

  beforeEach(() => {
    device = createTestBank({ classic: true, storage: true, simModels: true });
    const { bank } = device;
    // facts are kept by layout: a copy of it has none yet
    const layout = Object.assign(
      Object.create(Object.getPrototypeOf(bank.layout) as object),
      bank.layout,
    ) as typeof bank.layout;
    map = new JudgedMap(
      new Proxy(bank, {
        get: (target, name) => {
          const member: unknown = name === 'layout' ? layout : Reflect.get(target, name, target);
          return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        },
      }),
    );
  });

  const slot = (point: string) => named(device.layout, point);
  const at = (point: string) => slot(point).address;
  const sizeOf = (point: string) => slot(point).def.size;
  const factsOf = (point: string, count = sizeOf(point), from = 0) => map.writeFacts(at(point) + from, count);
  const modelAt = (id: number) => device.layout.models.find(({ def }) => def.id === id)?.address ?? 0;

  it('has point boundaries where points begin, and none inside, up to both ends', () => {
    const { base, size, slots } = device.layout;
    for (const { address, def, modelId } of slots) {
      expect(map.isWhole(address, def.size), `${modelId}.${def.name}`).to.equal(true);
      if (def.size < 2) continue;
      const isExempt = modelId >= 64_000;
      expect(map.isWhole(address + 1, def.size - 1), `${modelId}.${def.name} begin`).to.equal(isExempt);
      expect(map.isWhole(address, def.size - 1), `${modelId}.${def.name} end`).to.equal(isExempt);
      expect(map.isWhole(address, 1), `${modelId}.${def.name} first`).to.equal(isExempt);
    }
    expect(map.isWhole(base, size)).to.equal(true);
    expect(map).to.include({ base, end: base + size });
  });

  it('has heads at the marker and at the id of each model, and nowhere else', () => {
    const { base, size, models } = device.layout;
    const heads = [base, ...models.map(({ address }) => address)];
    for (let register = base; register < base + size; register += 1)
      expect(map.hasHead(register, 1), String(register)).to.equal(heads.includes(register));
    expect(map.hasHead(modelAt(701) - 1, 2)).to.equal(true);
    expect(map.hasHead(modelAt(701) - 1, 1)).to.equal(false);
    expect(map.hasHead(modelAt(701) - 1, 9)).to.equal(true);
    const last = models.at(-1)?.address ?? 0;
    expect(map.hasHead(last, base + size - last)).to.equal(true);
    expect(map.hasHead(last + 1, base + size - last - 1)).to.equal(false);
    expect(map.hasHead(modelAt(701) + 1, 1)).to.equal(false);
  });

  it('names the points that registers cut, and no whole one', () => {
    const energy = at('701.TotWhInj');
    expect(map.cutPoints(energy + 1, sizeOf('701.TotWhInj') - 1)).to.deep.equal(['701.TotWhInj']);
    expect(map.cutPoints(energy, 1)).to.deep.equal(['701.TotWhInj']);
    expect(map.cutPoints(energy, sizeOf('701.TotWhInj'))).to.deep.equal([]);
    expect(map.cutPoints(energy + 1, sizeOf('701.TotWhInj'))).to.have.length(2);
  });

  it('has no facts about writes that are not all in the map', () => {
    const { base, size } = device.layout;
    expect(map.writeFacts(base, size)).to.not.equal(null);
    expect(map.writeFacts(base - 1, 2)).to.equal(null);
    expect(map.writeFacts(base + size - 1, 2)).to.equal(null);
    expect(map.writeFacts(base + size - 1, 1)).to.not.equal(null);
    expect(factsOf('701.W')).to.equal(factsOf('701.W'));
  });

  it('keeps the facts of 256 spans', () => {
    const first = map.writeFacts(device.layout.base, 2);
    const others = (count: number) => {
      for (let i = 0; i < count; i += 1) map.writeFacts(device.layout.base + 128 + i, 1);
    };
    others(255);
    expect(map.writeFacts(device.layout.base, 2)).to.equal(first);
    others(256);
    expect(map.writeFacts(device.layout.base, 2)).to.not.equal(first);
  });

  describe('of a write', () => {
    const nothing: WriteFacts = {
      cut: null,
      readOnly: null,
      scaleFactor: null,
      setInForce: null,
      groups: [],
      requests: [],
      staged: [],
      isSettings: false,
      hasPublishedRights: true,
    };
    const group = (point: string) => map.setpointsIn(at(point), 1)[0] ?? -1;

    for (const [point, expected] of [
      ['701.W', { readOnly: '701.W' }],
      ['701.W_SF', { scaleFactor: '701.W_SF' }],
      ['704.WMaxLimPct_SF', { scaleFactor: '704.WMaxLimPct_SF' }],
      ['103.W', {}],
      ['103.W_SF', {}],
      ['702.WMax', { isSettings: true }],
      ['703.ESVHi', { isSettings: true }],
      ['703.ES', {}],
      ['705.Ena', {}],
      ['705.Crv[0].ActPt', { setInForce: '705.Crv[0].ActPt' }],
      ['705.Crv[1].ActPt', { staged: [{ modelId: 705, number: 2 }], isSettings: true }],
      ['705.Crv[2].Pt[0].V', { staged: [{ modelId: 705, number: 3 }], isSettings: true }],
      ['711.Ctl[1].KOf', { staged: [{ modelId: 711, number: 2 }], isSettings: true }],
      ['705.AdptCrvReq', { requests: [705] }],
      ['711.AdptCtlReq', { requests: [711] }],
      ['715.LocRemCtl', { readOnly: '715.LocRemCtl' }],
      ['715.ControllerHb', {}],
      ['705.Crv[0].ReadOnly', { readOnly: '705.Crv[0].ReadOnly' }],
      ['707.Ena', {}],
      ['1.DA', {}],
      ['1.Pad', {}],
      ['802.AHRtg', {}],
      ['802.SoCRsvMin', { isSettings: true, hasPublishedRights: false }],
      ['802.SetOp', { hasPublishedRights: false }],
      ['123.Conn', { hasPublishedRights: false }],
    ] as const)
      it(`has those of ${point}`, () => {
        expect(factsOf(point)).to.deep.equal({ ...nothing, ...expected });
      });

    it('has the set-points, enable and timer of each group', () => {
      const limit = group('704.WMaxLimPct');
      const part = { group: limit, setsValue: false, setsEnable: false };
      expect(factsOf('704.WMaxLimPct')?.groups).to.deep.equal([{ ...part, setsValue: true }]);
      expect(factsOf('704.WMaxLimPctEna')?.groups).to.deep.equal([{ ...part, setsEnable: true }]);
      expect(factsOf('704.WMaxLimPctRvrtTms')?.groups).to.deep.equal([part]);
      expect(factsOf('704.WMaxLimPctRvrtTms', 3, -1)?.groups).to.deep.equal([part]);
      expect(factsOf('704.WMaxLimPctEna', 2)?.groups).to.deep.equal([{ ...part, setsValue: true, setsEnable: true }]);
      expect(factsOf('704.WMaxLimPctRvrtRem')?.groups).to.deep.equal([]);
      const { address, def } = slot('704.VarSetPct');
      expect(map.writeFacts(address, def.size)?.groups).to.deep.equal([
        { group: group('704.VarSetPct'), setsValue: true, setsEnable: false },
      ]);
    });

    it('has those of each of its points', () => {
      const both = (first: string, last: string) => factsOf(first, at(last) + sizeOf(last) - at(first));
      expect(both('703.ES', '703.ESVHi')?.isSettings).to.equal(true);
      expect(both('706.RvrtTms', '706.Crv[1].ActPt')?.isSettings).to.equal(false);
      expect(both('715.OpCtl', '802.SetOp')?.hasPublishedRights).to.equal(false);
    });

    it('has the point that it cuts at either end, unless devices ignore it', () => {
      const point = '704.WMaxLimPctRvrtTms';
      expect(factsOf(point, 1)?.cut).to.equal(point);
      expect(factsOf(point, 1, 1)?.cut).to.equal(point);
      expect(factsOf(point)?.cut).to.equal(null);
      const ignored = device.layout.slots.find(
        ({ modelId, writable, def }) => modelId > 101 && modelId < 200 && !writable && def.size > 1,
      );
      expect(map.writeFacts(ignored?.address ?? 0, 1)?.cut).to.equal(null);
      expect(factsOf('701.TotWhInj', 1)).to.include({ cut: null, readOnly: '701.TotWhInj' });
    });

    it('is none of settings if it restarts a reversion time', () => {
      const timer = device.layout.slots.find(({ path, modelId }) => modelId === 705 && path === 'RvrtTms');
      if (timer === undefined) throw new Error('705 has no timer');
      expect(map.writeFacts(timer.address, timer.def.size)?.isSettings).to.equal(false);
    });
  });

  it('has the scale factors of a read, and those of its values once each', () => {
    const { address } = slot('701.W_SF');
    const [scale = -1] = map.scalesIn(address, 1).scales;
    expect(map.scaleName(scale)).to.equal('701.W_SF');
    expect(map.scaleValue(scale)).to.equal(device.value('701.W_SF'));
    expect([...map.scalesIn(at('701.W'), 1).scaled]).to.deep.equal([[scale, '701.W']]);
    expect(map.scalesIn(at('701.W'), 1).scales).to.deep.equal([]);
    expect([...map.scalesIn(at('701.ConnSt'), 1).scaled]).to.deep.equal([]);
    const names = device.layout.slots.filter(
      ({ def, implemented, modelId }) => def.type === 'sunssf' && implemented && modelId < 64_000,
    );
    expect(Array.from({ length: map.scaleCount }, (_, i) => map.scaleName(i))).to.deep.equal(names.map(pointName));
    for (const { address: of, def, path, modelName, implemented } of device.layout.slots) {
      if (def.sf === undefined || names.every((one) => one.path !== def.sf || one.modelName !== modelName)) continue;
      const scaled = [...map.scalesIn(of, def.size).scaled.keys()].map((one) => map.scaleName(one));
      expect(scaled, path).to.deep.equal(implemented ? [`${modelName.replace(/\D/g, '')}.${def.sf}`] : []);
    }
    const classic = map.scalesIn(at('103.W'), 1).scaled;
    expect([...classic.keys()].map((one) => map.scaleName(one))).to.deep.equal(['103.W_SF']);
  });

  it('has the groups of whose set-points registers have one', () => {
    const { address } = slot('704.WMaxLimPct');
    const groups = map.setpointsIn(address, 1);
    expect(groups).to.have.length(1);
    expect(map.setpointsIn(address - 1, 1)).to.deep.equal([]);
    expect(map.setpointsIn(address - 1, 2)).to.deep.equal(groups);
    expect(map.setpointsIn(at('704.WSet'), 1)).to.deep.equal(map.setpointsIn(at('704.WSetPct'), 1));
    expect(map.setpointsIn(at('704.WSet'), 1)).to.have.length(1);
    expect(map.setpointsIn(device.layout.base, device.layout.size).length).to.be.greaterThan(4);
  });

  describe('of a refused value', () => {
    const faultOf = (point: string, value: readonly number[], refused = [point]) =>
      map.valueFault(at(point), words(...value), new Set(refused));

    it('is that of the point that was refused', () => {
      const enable = '704.WMaxLimPctEna';
      expect(faultOf(enable, [7, 0xffff], [enable])).to.include({ kind: 'undefined', point: enable });
      expect(faultOf(enable, [7, 0xffff], ['704.WMaxLimPct'])).to.include({
        kind: 'not_implemented',
        point: '704.WMaxLimPct',
      });
      expect(faultOf(enable, [1, 0xffff], [enable, '704.WMaxLimPct'])?.point).to.equal('704.WMaxLimPct');
      expect(faultOf(enable, [7, 0xffff], [])).to.equal(null);
    });

    it('is none of values that are defined, of parts of points, and of classic models', () => {
      expect(faultOf('704.WMaxLimPctEna', [1])).to.equal(null);
      expect(faultOf('704.WMaxLimPct', [1001])).to.equal(null);
      expect(faultOf('704.WMaxLimPctRvrtTms', [0xffff])).to.equal(null);
      const timer = '704.WMaxLimPctRvrtTms';
      expect(map.valueFault(at(timer) + 1, words(0xffff, 0xffff), new Set([timer]))).to.equal(null);
      expect(faultOf('702.IntIslandCat', [0x4000])).to.equal(null);
      expect(faultOf('64414.GridModelSource', [0, 0, 0, 0])).to.equal(null);
      expect(faultOf('704.WMaxLimPctRvrtTms', [0xffff, 0xffff])).to.include({ kind: 'not_implemented' });
      expect(faultOf('123.WMaxLimPct', [0xffff])).to.equal(null);
      expect(faultOf('705.Crv[1].Pt[0].V', [0xffff])).to.equal(null);
    });

    it('counts sets and points as the device has them', () => {
      const sets = Number(device.value('705.NCrv'));
      const points = Number(device.value('705.NPt'));
      expect(faultOf('705.AdptCrvReq', [sets])).to.equal(null);
      for (const request of ['705.AdptCrvReq', '707.AdptCrvReq', '711.AdptCtlReq'])
        expect(faultOf(request, [sets + 1])?.detail, request).to.equal(`${sets + 1} of ${sets}`);
      expect(faultOf('705.Crv[1].ActPt', [points])).to.equal(null);
      expect(faultOf('705.Crv[1].ActPt', [points + 1])?.detail).to.equal(`${points + 1} of ${points}`);
    });
  });

  it('knows adoptions and whether their function is on', () => {
    expect(map.adoptionResultAt(705)).to.equal(at('705.AdptCrvRslt'));
    expect(map.adoptionResultAt(711)).to.equal(at('711.AdptCtlRslt'));
    expect(map.adoptionResultAt(704)).to.equal(null);
    expect(map.adoptedSet(704)).to.equal(null);
    device.set({ '705.AdptCrvReq': 2, '705.Ena': 'ENABLED' }, byRest);
    expect(map.adoptedSet(705)).to.equal(2);
    expect([map.isEnabled(705), map.isEnabled(706), map.isEnabled(701)]).to.deep.equal([true, false, false]);
  });

  it('knows of a contradiction while the last adoption has failed for it', () => {
    const write = (point: string, ...values: readonly number[]) => {
      device.bank.write(at(point), words(...values), byModbus);
    };
    const contradiction = () => map.adoptionContradiction(705)?.path ?? null;
    write('705.Crv[1].ActPt', 2);
    write('705.AdptCrvReq', 2);
    expect(device.value('705.AdptCrvRslt')).to.equal('COMPLETED');
    write('705.Crv[1].ActPt', 0);
    expect(contradiction()).to.equal(null);
    write('705.AdptCrvReq', 2);
    expect(contradiction()).to.equal('Crv[1].ActPt');
    write('705.Crv[1].ActPt', 2);
    expect(contradiction()).to.equal(null);
    expect(map.adoptionContradiction(704)).to.equal(null);
  });
});
