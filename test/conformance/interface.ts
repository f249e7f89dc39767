/** SunSpec Modbus conformance: the interface itself, discovery, and what must be refused. */
import { expect } from 'chai';
import { dealt } from '../support/choice.ts';
import { openBed } from '../support/conformance/bed.ts';
import type { Bed, Line } from '../support/conformance/bed.ts';
import { lines } from '../support/conformance/bed.ts';
import { pick } from '../support/depth.ts';
import { DeviceMap } from '../support/conformance/device-map.ts';
import type { PlacedPoint } from '../support/conformance/device-map.ts';
import { exceptionOf } from '../support/conformance/master.ts';
import type { Master, Wire } from '../support/conformance/master.ts';
import { adjustablePoints, rawWrongs } from '../support/conformance/ranges.ts';
import { isAbsent, numberTypeOf, wordsOf } from '../support/conformance/registers.ts';

const markerRead = '039c400002';
const markerAnswer = '030453756e53';
const hex16 = (value: number) => value.toString(16).padStart(4, '0');
const illegalAddress = 2;
/** illegal address, illegal value, device failure */
const refusals = [illegalAddress, 3, 4];

/** The points that a line is tried on: each line has others. */
function pointsFor(line: Line, points: readonly PlacedPoint[]): readonly PlacedPoint[] {
  return dealt(points, pick({ quick: lines.length, ci: 1 }), lines.indexOf(line));
}

async function answered(wire: Wire, pdu: string): Promise<string> {
  wire.send(wire.frame(pdu));
  return wire.answer();
}

export function interfaceProcedures(line: Line): void {
  describe(`Conformance over ${line.name}: interface`, () => {
    let bed: Bed;
    let master: Master;
    let map: DeviceMap;

    before(async () => {
      bed = await openBed(line);
      master = await bed.master();
      map = await DeviceMap.scan(master);
    });
    after(() => bed.close());

    it('DEV-1: the marker is at a base address, the chain is walked to the end model', async () => {
      expect(map.base).to.be.oneOf([0, 40_000, 50_000]);
      expect(map.models.map(({ id }) => id)).to.deep.equal([
        1, 701, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715,
      ]);
      expect(map.end.length).to.equal(0);
      expect(await master.read(map.end.address, 2)).to.deep.equal([0xffff, 0]);
      expect(await exceptionOf(master.read(map.end.address + 2, 1))).to.equal(illegalAddress);
      expect(await exceptionOf(master.read(map.end.address, 3)), 'across the end').to.equal(illegalAddress);
    });

    it('DEV-2: model 1 is the first one and complete', async () => {
      const [common] = map.models;
      expect([common?.id, common?.address, common?.length]).to.deep.equal([1, map.base + 2, 66]);
      for (const name of ['Mn', 'Md', 'SN', 'Vr'])
        expect(await map.value(`1.${name}`), name)
          .to.be.a('string')
          .with.length.above(0);
    });

    const id = line.framing === 'rtu' ? 'RTU' : 'TCP';
    it(`${id}-1: the interface works`, async () => {
      const wire = await bed.wire();
      expect(await answered(wire, markerRead)).to.equal(markerAnswer);
    });

    it(`${id}-2: an incomplete request changes nothing, and the next one is served`, async () => {
      const limit = map.point('704.WMaxLimPct');
      const before = await map.words(limit);
      const broken = await bed.wire();
      const request = broken.frame(`10${hex16(limit.address)}0001020064`);
      const brokenOff = bed.breaking();
      broken.send(request.subarray(0, request.length - 3));
      // others are served meanwhile
      expect(await answered(await bed.wire(), markerRead)).to.equal(markerAnswer);
      await brokenOff();
      if (line.framing === 'rtu') {
        // the line has been silent: what has begun is void, and the next request is answered
        expect(await answered(broken, markerRead)).to.equal(markerAnswer);
      } else {
        await broken.untilClosed();
        expect(broken.pending).to.equal(0);
      }
      expect(await map.words(limit)).to.deep.equal(before);
    });

    if (line.framing === 'rtu') {
      it('RTU-2: a request with a wrong CRC is not answered and changes nothing', async () => {
        const limit = map.point('704.WMaxLimPct');
        const before = await map.words(limit);
        const wire = await bed.wire();
        const damaged = wire.frame(`06${hex16(limit.address)}0064`);
        damaged[damaged.length - 1]! ^= 1;
        const brokenOff = bed.breaking();
        wire.send(damaged);
        await brokenOff();
        expect(await answered(wire, markerRead)).to.equal(markerAnswer);
        expect(wire.pending).to.equal(0);
        expect(await map.words(limit)).to.deep.equal(before);
      });
    }

    it(`${id}-3: a request in two pieces is answered, once`, async () => {
      const wire = await bed.wire();
      const request = wire.frame(markerRead);
      for (const cut of [1, 3, request.length - 1]) {
        wire.send(request.subarray(0, cut));
        await bed.begun();
        wire.send(request.subarray(cut));
        expect(await wire.answer(), `cut after ${cut}`).to.equal(markerAnswer);
      }
      expect(await answered(wire, '039c420001')).to.equal('03020001');
      expect(wire.pending).to.equal(0);
    });

    it('MB-1: function 16 on two adjacent points, function 6 on each of them', async () => {
      const [first, second] = [map.point('704.WMaxLimPct'), map.point('704.WMaxLimPctRvrt')];
      expect(second.address).to.equal(first.address + 1);
      const before = await master.read(first.address, 2);
      await master.writeMany(first.address, [5000, 6000]);
      expect(await master.read(first.address, 2)).to.deep.equal([5000, 6000]);
      await master.writeOne(first.address, 7000);
      await master.writeOne(second.address, 8000);
      expect(await master.read(first.address, 2)).to.deep.equal([7000, 8000]);
      // the answers: address and value, address and quantity
      const wire = await bed.wire();
      const one = `06${hex16(first.address)}1770`;
      expect(await answered(wire, one)).to.equal(one);
      expect(await answered(wire, `10${hex16(first.address)}00020413881770`)).to.equal(`10${hex16(first.address)}0002`);
      await master.writeMany(first.address, before);
    });

    it('MB-2: function 3 with quantity 1, on every register of a point', async () => {
      for (const name of ['701.Hz', '701.W', '1.SN', '701.TotWhInj']) {
        const point = map.point(name);
        const words = await map.words(point);
        const single = [];
        for (let i = 0; i < point.def.size; i += 1) single.push(...(await master.read(point.address + i, 1)));
        expect(single, name).to.deep.equal([...words]);
      }
    });

    it('EXC-1: each point refuses values outside its range, unknown symbols and "not implemented", and changes nothing', async () => {
      let tried = 0;
      for (const point of pointsFor(line, await adjustablePoints(map))) {
        const before = await map.words(point);
        for (const number of await rawWrongs(map, point)) {
          expect(
            await exceptionOf(map.writeWords(point, wordsOf(point.def, number))),
            `${point.name} = ${number}`,
          ).to.be.oneOf(refusals);
          tried += 1;
        }
        expect(await map.words(point), point.name).to.deep.equal(before);
      }
      expect(tried).to.be.above(pick({ quick: 200, ci: 1000 }));
    });

    it('EXC-1: a wrong value refuses the whole request', async () => {
      const { address } = map.point('704.WMaxLimPct');
      const before = await master.read(address, 2);
      for (const values of [
        [5100, 10_001],
        [10_001, 5100],
      ]) {
        expect(await exceptionOf(master.writeMany(address, values)), values.join(', ')).to.be.oneOf(refusals);
        expect(await master.read(address, 2)).to.deep.equal(before);
      }
    });

    it('EXC-1: a write that covers only a part of a point is refused', async () => {
      const wide = (await adjustablePoints(map)).filter(({ def }) => def.size > 1);
      // one of each kind, of sets and points of curves alike
      const kinds = new Map(wide.map((point) => [point.plainName, point]));
      expect(kinds.size).to.be.above(20);
      for (const point of pointsFor(line, [...kinds.values()])) {
        const before = await map.words(point);
        for (let i = 0; i < point.def.size; i += 1) {
          const changed = (before[i] ?? 0) ^ 1;
          expect(
            await exceptionOf(master.writeOne(point.address + i, changed)),
            `${point.name}, register ${i}`,
          ).to.be.oneOf(refusals);
        }
        expect(await map.words(point), point.name).to.deep.equal(before);
      }
    });

    it('EXC-2: points that are read-only or not implemented refuse every write', async () => {
      const locked = map.models
        .flatMap(({ points }) => points)
        .filter(({ def, path }) => !def.writable || /^(Crv|Ctl)\[0\]/.test(path));
      expect(locked.length).to.be.above(500);
      for (const point of pointsFor(line, locked)) {
        const before = await map.words(point);
        const words = before.map((word) => word ^ 1);
        expect(await exceptionOf(map.writeWords(point, words)), point.name).to.be.oneOf(refusals);
        expect(await map.words(point), point.name).to.deep.equal(before);
      }
      const absent = async (point: PlacedPoint) => isAbsent(point.def, await map.words(point));
      const numbers = map.models
        .flatMap(({ points }) => points)
        .filter(({ def, path }) => def.writable && numberTypeOf(def) && !path.includes('.Pt['));
      for (const point of pointsFor(line, numbers)) {
        if (await absent(point))
          expect(await exceptionOf(map.writeWords(point, wordsOf(point.def, 1))), point.name).to.be.oneOf(refusals);
      }
      for (const address of [map.base, map.base + 2, map.base + 3, map.end.address, map.end.address + 1]) {
        expect(await exceptionOf(master.writeOne(address, 1)), `${address}`).to.be.oneOf(refusals);
      }
    });

    it('EXC-3: an unknown function is answered with exception 1', async () => {
      const wire = await bed.wire();
      for (const code of [50, 7, 23, 43, 100]) {
        const hex = code.toString(16).padStart(2, '0');
        expect(await answered(wire, `${hex}0000`), `function ${code}`).to.equal(`${(code | 0x80).toString(16)}01`);
      }
      expect(await answered(wire, markerRead)).to.equal(markerAnswer);
    });
  });
}

/** Procedures of RTU frames only. */
export function addressProcedures(line: Line): void {
  describe(`Conformance over ${line.name}: addresses of a line`, () => {
    let bed: Bed;

    beforeEach(async () => {
      bed = await openBed(line, ['PV-3Phase', 'Batt-3Phase']);
    });
    afterEach(() => bed.close());

    it('broadcast: every device of the line executes a write to unit id 0, and none answers', async () => {
      const wire = await bed.wire();
      const maps = [await DeviceMap.scan(await bed.master())];
      if (line.shared) maps.push(await DeviceMap.scan(await bed.master(1)));
      const { address } = maps[0]!.point('704.WMaxLimPct');
      wire.send(
        Buffer.concat([wire.frame(`06${hex16(address)}1388`, 0), wire.frame(`10${hex16(address + 1)}0001021770`, 0)]),
      );
      expect(await answered(wire, markerRead)).to.equal(markerAnswer);
      expect(wire.pending).to.equal(0);
      for (const map of maps)
        expect([await map.value('704.WMaxLimPct'), await map.value('704.WMaxLimPctRvrt')]).to.deep.equal([50, 60]);
      // a broadcast read has no answer either
      wire.send(wire.frame(markerRead, 0));
      expect(await answered(wire, markerRead)).to.equal(markerAnswer);
      expect(wire.pending).to.equal(0);
    });

    it('device address: 1.DA is written, answered at the old address, and in force from the next request on', async () => {
      const wire = await bed.wire();
      const master = await bed.master();
      const map = await DeviceMap.scan(master);
      let current = await map.number('1.DA');
      expect(current).to.equal(1);
      const { address } = map.point('1.DA');
      for (const refused of [0, 248, 0xffff])
        expect(await exceptionOf(master.writeOne(address, refused)), `${refused}`).to.be.oneOf(refusals);
      for (const next of [2, 124, 185, 247]) {
        // of another device
        if (line.shared && next === 2) continue;
        wire.send(wire.frame(`06${hex16(address)}${hex16(next)}`, current));
        expect(await wire.answer(current)).to.equal(`06${hex16(address)}${hex16(next)}`);
        wire.send(Buffer.concat([wire.frame(markerRead, current), wire.frame(markerRead, next)]));
        expect(await wire.answer(next)).to.equal(markerAnswer);
        current = next;
      }
    });
  });
}
