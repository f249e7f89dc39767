import { expect } from 'chai';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { createTemplate } from '../../../src/der/device/template.ts';
import type { DcSource } from '../../../src/der/source/source.ts';
import { configuredDevices } from '../../support/configured.ts';
import { idealPlant } from '../../support/ideal-plant.ts';
import { byTest } from '../../support/rig.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const kinds = ['PV-3Phase', 'Batt-3Phase', 'Wind-T3-3Phase', 'Fuelcell-3Phase'] as const;

/** A device around the source of its profile, whose members a test replaces. */
function deviceOf(deviceType: string) {
  const { profile } = configuredDevices('--device_type', deviceType)[0]!;
  const source = createTemplate(profile, 'three', 60, start, 0).createSource(1, 0, false);
  const { plant, device } = idealPlant({ profile, source, name: deviceType, deviceType });
  return {
    device,
    map: device.bank.map,
    source,
    run: async (ticks: number) => {
      plant.setTime({ rate: 10 });
      for (let i = 0; i < ticks; i += 1) await plant.step(1);
    },
    json: () => plant.latest.published[0]!.json.toString(),
  };
}
type Bed = ReturnType<typeof deviceOf>;

/** Gives a member of a source another value, until the returned function is called. */
function replace(source: DcSource, member: string, get: (former: unknown) => unknown): () => void {
  const prototype: unknown = Object.getPrototypeOf(source);
  const former = Object.getOwnPropertyDescriptor(source, member);
  const value = () => (former ? former.value : Reflect.get(prototype as object, member, source)) as unknown;
  Object.defineProperty(source, member, {
    configurable: true,
    get: () => get(value()),
    set() {
      /* a source may write its member meanwhile */
    },
  });
  return () => {
    if (former) Object.defineProperty(source, member, former);
    else Reflect.deleteProperty(source, member);
  };
}

const portsWith = (member: string, bad: number) => (ports: unknown) =>
  (ports as DcSource['ports']).map((port) => ({
    type: port.type,
    name: port.name,
    voltageV: port.voltageV,
    currentA: port.currentA,
    powerW: port.powerW,
    [member]: bad,
  }));

function expectNumbers({ device, json }: Bed): void {
  for (const slot of device.bank.layout.slots) {
    const value = device.bank.value(slot);
    if (typeof value === 'number') expect(Number.isFinite(value), `${slot.modelId}.${slot.path}`).to.equal(true);
  }
  expect(json()).to.not.match(/NaN|Infinity|"power_kw":null/);
}

function expectFault(bed: Bed): void {
  expectNumbers(bed);
  const { device, map } = bed;
  expect([map.m701.InvSt, map.m701.ConnSt, map.m701.W, map.m701.Var]).to.deep.equal(['FAULT', 'DISCONNECTED', 0, 0]);
  expect(device.alarms.map(({ code }) => code)).to.include('hw_test_failure');
  expect(device.statusMessage).to.equal('the model gave a value that is not finite');
}

/** Members of a source, by what they are replaced with. */
const broken: readonly (readonly [name: string, member: string, get: (former: unknown) => unknown])[] = [
  ...([NaN, Infinity, -Infinity] as const).flatMap((bad) =>
    ['voltageV', 'currentA', 'powerW'].map((of) => [`${of} ${bad}`, 'ports', portsWith(of, bad)] as const),
  ),
  ['sub-step NaN', 'maxStepS', () => NaN],
];

describe('A source that gives a value that is not finite', () => {
  for (const kind of kinds) {
    it(`${kind}: puts its device in fault with an alarm, and nothing of it in registers and snapshot`, async () => {
      for (const [name, member, get] of broken) {
        const bed = deviceOf(kind);
        await bed.run(3);
        const end = replace(bed.source, member, get);
        await bed.run(3);
        expect(bed.map.m701.InvSt, name).to.equal('FAULT');
        expectFault(bed);
        const { DERHb } = bed.map.m715;
        await bed.run(3);
        expectFault(bed);
        // the time of the device goes on
        expect(bed.map.m715.DERHb! - DERHb!, name).to.equal(3);
        end();
        bed.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
        await bed.run(1);
        expect(bed.map.m701.InvSt, name).to.not.equal('FAULT');
        expect(bed.device.alarms.map(({ code }) => code)).to.not.include('hw_test_failure');
      }
    });
  }

  for (const member of ['availableDcW', 'absorbableDcW', 'potentialDcW', 'ownVar', 'reactiveCurrentPu', 'answer'])
    it(`${member}: only numbers reach registers and snapshot`, async () => {
      for (const kind of kinds) {
        for (const bad of [NaN, Infinity]) {
          const bed = deviceOf(kind);
          await bed.run(2);
          replace(bed.source, member, () => (member === 'answer' ? () => bad : bad));
          await bed.run(3);
          expectNumbers(bed);
        }
      }
    });

  it('a state of charge that is not finite: the last one is shown, also over REST, in fault', async () => {
    const bed = deviceOf('Batt-3Phase');
    await bed.run(3);
    const before = bed.device.detail;
    const { SoC } = bed.map.m713;
    const end = replace(bed.source, 'detail', () => () => ({ ...before, socPct: NaN }));
    await bed.run(3);
    expectFault(bed);
    expect([bed.map.m713.SoC, bed.device.detail]).to.deep.equal([SoC, before]);
    end();
    bed.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
    await bed.run(1);
    expect(bed.map.m701.InvSt).to.not.equal('FAULT');
  });
});
