/** Pieces of time for which limits are shared, and what the connection points show, over devices that only claim. */
import { expect } from 'chai';
import type { Provenance } from '../../../src/core/origin.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { Metering } from '../../../src/der/site/metering.ts';
import { Site } from '../../../src/der/site/site.ts';
import { FakeDevice, seconds } from './fakes.ts';

const by = { source: 'rest', at: 0, wallMs: 0 } as unknown as Provenance;

class Rig {
  devices: readonly FakeDevice[];
  loadW: (index: number, t: SimTime) => number = () => 0;
  nextEvent: (index: number, t: SimTime) => number = () => Infinity;
  readonly site: Site;

  constructor(devices: readonly FakeDevice[], metering: Metering | null = null) {
    this.devices = devices;
    const surroundings = {
      loadW: (index: number, t: SimTime) => this.loadW(index, t),
      nextEvent: (index: number, t: SimTime) => this.nextEvent(index, t),
    };
    this.site = new Site(() => this.devices, surroundings, metering);
  }

  /** @returns the end of the piece, s */
  share(fromS: number, toS: number): number {
    return this.site.share(seconds(fromS), seconds(toS)) / 1e6;
  }
}

const pair = () => new Rig([new FakeDevice(0, 10), new FakeDevice(1, 10)]);
const rounded = (watts: readonly (number | undefined)[]) => watts.map((w = NaN) => Math.round(w * 1e6) / 1e6);
const ceilings = ({ devices }: Rig) => devices.map(({ last }) => last?.[1]);

describe('Connection point: pieces of time', () => {
  it('without a limit there is one, and nobody is told bounds', () => {
    const rig = pair();
    expect(rig.share(0.3, 60)).to.equal(60);
    expect(rig.devices.map(({ bounds }) => bounds)).to.deep.equal([[], []]);
  });

  it('end at whole seconds, where something jumps, and at the end of the tick', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    expect(rig.share(0.3, 60)).to.equal(1);
    expect(rig.share(1, 60)).to.equal(2);
    rig.nextEvent = (index) => seconds(index === 1 ? 2.4 : 2.6);
    expect(rig.share(2, 60)).to.equal(2.4);
    rig.nextEvent = () => Infinity;
    expect(rig.share(2.4, 60)).to.equal(3);
    expect(rig.share(3, 3.2)).to.equal(3.2);
    expect(rig.devices[0]?.piecesS).to.deep.equal([0.7, 1, 0.4, 0.6, 1]);
  });

  it('last a microsecond at least', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    rig.nextEvent = (_, t) => t;
    expect(rig.share(2, 60)).to.equal(2.000001);
  });

  it('bounds stay until a piece is over, also beyond the tick', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    rig.share(0, 0.4);
    rig.devices[0]!.demandW = 1;
    expect(rig.share(0.4, 0.8)).to.equal(0.8);
    expect(rig.devices.map(({ bounds }) => bounds.length)).to.deep.equal([1, 1]);
    rig.share(0.8, 1);
    rig.share(1, 1.5);
    expect(ceilings(rig)).to.deep.equal([1, 5]);
    expect(rig.devices.map(({ bounds }) => bounds.length)).to.deep.equal([2, 2]);
  });

  it('a load beyond the expected ones begins a new one, where a limit depends on loads', () => {
    for (const [patch, count] of [
      [{ export: 6 }, 2],
      [{ import: 6 }, 2],
      [{ generation: 6 }, 1],
      [{ load: 6 }, 1],
    ] as const) {
      for (const changedW of [5, 15]) {
        const rig = pair();
        rig.loadW = () => 10;
        rig.site.set(patch, by);
        rig.share(0, 0.4);
        rig.loadW = () => changedW;
        rig.share(0.4, 0.8);
        expect(rig.devices[0]?.bounds, `${JSON.stringify(patch)} ${changedW}`).to.have.length(count);
      }
    }
  });

  it('a load within those at both ends of the piece begins none, to the rounding of a sum', () => {
    const rig = new Rig([new FakeDevice(0, 10)]);
    rig.loadW = (_, t) => 10 + t / 1e6;
    rig.site.set({ export: 6 }, by);
    rig.share(0, 0.2);
    for (const loadW of [10, 10.5, 11, 9.9995, 11.0005]) {
      rig.loadW = () => loadW;
      rig.share(0.4, 0.5);
    }
    expect(rig.devices[0]?.bounds).to.have.length(1);
    rig.loadW = (_, t) => (t === seconds(1) ? 11.002 : 11);
    rig.share(0.5, 0.6);
    expect(rig.devices[0]?.bounds).to.have.length(2);
    rig.loadW = (_, t) => (t === seconds(1) ? 11 : 10.99);
    rig.share(0.6, 0.7);
    expect(rig.devices[0]?.bounds).to.have.length(3);
  });

  it('loads are those beside the devices of a scope', () => {
    const rig = new Rig([new FakeDevice(3, 10), new FakeDevice(5, 10)]);
    rig.loadW = (index) => ({ 3: 2, 5: 4 })[index] ?? NaN;
    rig.site.set({ export: 1 }, by, { devices: [5] });
    rig.share(0, 1);
    expect(ceilings(rig)).to.deep.equal([Infinity, 5]);
    rig.site.set({ export: 9 }, by);
    rig.share(1, 2);
    expect(rounded(ceilings(rig))).to.deep.equal([10, 5]);
  });

  it('the lower load of both ends makes room for injection, the higher one takes room from absorption', () => {
    for (const loadW of [(t: number) => 2 + t, (t: number) => 3 - t]) {
      const rig = new Rig([new FakeDevice(0, 10)]);
      rig.loadW = (_, t) => loadW(t / 1e6);
      rig.site.set({ export: 1, import: 5 }, by);
      rig.share(0, 1);
      expect(rig.devices[0]?.last).to.deep.equal([-2, 3]);
    }
  });

  it('demands, ratings and least powers of both directions count', () => {
    const [a, b, c] = [new FakeDevice(0, 10), new FakeDevice(1, 10), new FakeDevice(2, -10)];
    const rig = new Rig([a, b, c]);
    rig.site.set({ generation: 8, load: 4 }, by);
    a.maxInjectW = 3;
    rig.share(0, 1);
    expect(rounded(ceilings(rig))).to.deep.equal([6, 2, 0]);
    expect(c.last?.[0]).to.be.closeTo(-4, 1e-9);
    b.minInjectW = 5;
    rig.share(1, 2);
    expect(rounded(ceilings(rig))).to.deep.equal([3, 5, 0]);
    c.minAbsorbW = 5;
    rig.share(2, 3);
    expect(c.last?.[0]).to.equal(0);
    expect(Object.is(c.last?.[0], 0), 'no negative zero').to.equal(true);
    c.demandW = 0;
    c.maxAbsorbW = 3;
    rig.share(3, 4);
    expect(rounded(rig.devices.map(({ last }) => last?.[0]))).to.deep.equal([-0.8, -0.8, -2.4]);
  });
});

describe('Connection point: changes', () => {
  it('a limit holds from the next piece on, also within the same second', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    rig.share(0, 0.4);
    rig.site.set({ export: 4 }, by);
    rig.share(0.4, 0.8);
    expect(ceilings(rig)).to.deep.equal([2, 2]);
  });

  it('the end of the last limit frees every device, once', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    rig.share(0, 1);
    rig.site.set({ export: null }, by);
    expect(rig.share(1, 9)).to.equal(9);
    rig.share(9, 10);
    expect(rig.devices.map(({ bounds }) => bounds.slice(1))).to.deep.equal([
      [[-Infinity, Infinity]],
      [[-Infinity, Infinity]],
    ]);
  });

  it('the end of one of two limits does not', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    rig.site.set({ export: 2 }, by, { devices: [0] });
    rig.site.set({ export: null }, by);
    rig.share(0, 1);
    expect(ceilings(rig)).to.deep.equal([2, Infinity]);
  });

  it('devices that come and go share anew within the second', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    rig.share(0, 0.4);
    rig.devices = [...rig.devices, new FakeDevice(4, 10)];
    rig.share(0.4, 0.8);
    expect(ceilings(rig)).to.deep.equal([2, 2, 2]);
    rig.devices = rig.devices.slice(1);
    rig.site.forget(0);
    rig.share(0.8, 0.9);
    expect(ceilings(rig)).to.deep.equal([3, 3]);
  });

  it('a device that has left takes its limits along', () => {
    const rig = pair();
    rig.site.set({ export: 2 }, by, { devices: [0] });
    rig.share(0, 1);
    rig.devices = rig.devices.slice(1);
    rig.site.forget(0);
    expect(rig.share(1, 9)).to.equal(9);
    expect(rig.site.scopes).to.have.length(1);
  });

  it('scopes name devices by their index, wherever they stand in the list', () => {
    const rig = new Rig([2, 5, 7, 8, 11].map((index) => new FakeDevice(index, 10)));
    rig.site.set({ export: 6 }, by, { devices: [5, 11] });
    rig.site.set({ export: 1 }, by, { devices: [2] });
    rig.site.set({ export: 2 }, by, { devices: [8] });
    rig.share(0, 1);
    expect(ceilings(rig)).to.deep.equal([1, 3, Infinity, 2, 3]);
    rig.devices.forEach((device, i) => {
      device.powerW = i + 1;
    });
    expect(rig.site.cutOf(2)).to.deep.equal({ devices: [2], limit: 'export', limitW: 1, owner: 'rest' });
    expect(rig.site.cutOf(11)).to.deep.equal({ devices: [5, 11], limit: 'export', limitW: 6, owner: 'rest' });
    expect([rig.site.cutOf(7), rig.site.cutOf(3), rig.site.cutOf(99)]).to.deep.equal([null, null, null]);
  });

  it('a device at the end of its share is held by what leaves no more', () => {
    const rig = new Rig([new FakeDevice(0, 5)]);
    rig.site.set({ generation: 8 }, by);
    rig.share(0, 1);
    expect(rig.site.cutOf(0)).to.equal(null);
    rig.devices[0]!.powerW = 8;
    expect(rig.site.cutOf(0)).to.include({ limit: 'generation', limitW: 8 });
  });

  it('nothing holds a device before the first piece, nor after the end of the limit', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    expect(rig.site.cutOf(0)).to.equal(null);
    rig.share(0, 1);
    expect(rig.site.cutOf(0)?.limit).to.equal('export');
    rig.site.set({ export: null }, by);
    expect(rig.site.cutOf(0)).to.equal(null);
  });
});

describe('Connection point: what it shows', () => {
  const measured = (...powers: readonly (readonly [powerW: number, loadW: number])[]) => {
    const rig = new Rig(powers.map((_, i) => new FakeDevice(2 * i, 0)));
    rig.devices.forEach((device, i) => {
      [device.powerW, device.loadW] = powers[i] ?? [0, 0];
    });
    rig.site.measure();
    return rig;
  };

  it('powers of the whole, of a device and of a group, as they were measured', () => {
    const { site, devices } = measured([5, 1], [-3, 2], [4, 0], [0, 8]);
    devices[0]!.powerW = 99;
    expect(site.now).to.include({ netW: -5, generationW: 9, consumptionW: 3, loadW: 11 });
    expect(site.of([4, 2])).to.deep.include({ devices: [2, 4], netW: -1, generationW: 4, consumptionW: 3, loadW: 2 });
    expect(site.of([2])).to.include({ netW: -5, generationW: 0, consumptionW: 3, loadW: 2 });
    expect(site.of([0])).to.include({ netW: 4, generationW: 5, consumptionW: 0, loadW: 1 });
    expect(site.of([1])).to.include({ netW: 0, generationW: 0, consumptionW: 0, loadW: 0 });
  });

  it('those of fewer and of more devices after a change', () => {
    const rig = measured([5, 1], [3, 1]);
    rig.devices = rig.devices.slice(1);
    rig.site.measure();
    expect(rig.site.now).to.include({ generationW: 3, loadW: 1 });
    expect(rig.site.of([2])).to.include({ generationW: 3 });
    expect(rig.site.of([0])).to.include({ generationW: 0 });
    rig.devices = [...rig.devices, new FakeDevice(8, 0)];
    rig.devices[1]!.powerW = 6;
    rig.site.measure();
    expect(rig.site.of([8])).to.include({ generationW: 6 });
  });

  it('a limit is exceeded by more than the rounding of a sum', () => {
    const exceeded = (powerW: number, loadW: number) => {
      const { site } = measured([powerW, loadW]);
      site.set({ export: 2, import: 2, generation: 2, load: 2 }, by);
      return Object.entries(site.now.limits).flatMap(([name, { exceeded: is }]) => (is ? [name] : []));
    };
    expect(exceeded(2.0009, 0)).to.deep.equal([]);
    expect(exceeded(2.002, 0)).to.deep.equal(['export', 'generation']);
    expect(exceeded(-2.0009, 0)).to.deep.equal([]);
    expect(exceeded(-2.002, 0)).to.deep.equal(['import', 'load']);
    expect(exceeded(4, 2.5)).to.deep.equal(['generation']);
    expect(exceeded(0, 2.5)).to.deep.equal(['import']);
    const { site } = measured([9, 0]);
    expect(site.now.limits.export).to.deep.equal({
      limitW: null,
      owner: null,
      setBy: null,
      binding: false,
      exceeded: false,
    });
  });

  it('a limit binds from the piece on that it was shared for, until it is set anew', () => {
    const rig = pair();
    const binds = () => rig.site.now.limits.export.binding;
    expect(binds()).to.equal(false);
    rig.site.set({ export: 6 }, by);
    expect(binds()).to.equal(false);
    rig.share(0, 1);
    expect(binds()).to.equal(true);
    expect(rig.site.now.limits.generation.binding).to.equal(false);
    expect(rig.site.now.limits.export.setBy).to.deep.equal(by);
    rig.site.set({ load: 5 }, by);
    expect(binds()).to.equal(true);
    rig.site.set({ export: 5 }, by);
    expect(binds()).to.equal(false);
    rig.share(1, 2);
    expect(binds()).to.equal(true);
    rig.site.set({ export: null, load: null }, by);
    expect(binds()).to.equal(false);
  });

  it('a limit of a scope that is not shared yet does not bind', () => {
    const rig = pair();
    rig.site.set({ export: 6 }, by);
    rig.share(0, 1);
    rig.site.set({ export: 1 }, by, { devices: [0] });
    expect(rig.site.of([0]).limits.export).to.include({ limitW: 1, owner: 'rest', binding: false });
    rig.share(1, 2);
    expect(rig.site.of([0]).limits.export.binding).to.equal(true);
    expect(rig.site.of([0]).owners.map(({ owner }) => owner)).to.deep.equal(['rest']);
    expect(rig.site.of([1]).owners).to.deep.equal([]);
  });

  it('the whole site first, then the scopes with limits, inner ones first', () => {
    const rig = pair();
    for (const devices of [[0, 1], [1], undefined]) rig.site.set({ export: 6 }, by, devices && { devices });
    expect(rig.site.scopes.map(({ devices }) => devices)).to.deep.equal([null, [1], [0, 1]]);
  });
});

describe('Connection point: its meters', () => {
  it('end pieces, count what has advanced and show what was measured', () => {
    const calls: unknown[] = [];
    const metering = {
      begin: (devices: readonly unknown[], from: number, to: number) => {
        calls.push(['begin', devices.length, from, to]);
        return seconds(2.5);
      },
      advance: (to: number) => calls.push(['advance', to]),
      publish: (devices: readonly unknown[]) => calls.push(['publish', devices.length]),
    } as unknown as Metering;
    const rig = new Rig([new FakeDevice(0, 10)], metering);
    expect(rig.share(2, 9)).to.equal(2.5);
    rig.site.set({ export: 6 }, by);
    expect(rig.share(2, 9)).to.equal(2.5);
    rig.site.advanced(seconds(2.5));
    rig.site.measure();
    const begin = ['begin', 1, seconds(2), seconds(9)];
    expect(calls).to.deep.equal([begin, begin, ['advance', seconds(2.5)], ['publish', 1]]);
  });

  it('may be missing', () => {
    const rig = pair();
    rig.site.advanced(seconds(1));
    rig.site.measure();
    expect(rig.share(1, 9)).to.equal(9);
  });
});
