import { expect } from 'chai';
import type { RemoteClock } from '../../../src/core/time/remote-clock.ts';
import { MasterClock } from '../../../src/dnp3/clock.ts';
import { deviceProfileXml } from '../../../src/dnp3/profile/device-profile.ts';
import type { ProfileFacts } from '../../../src/dnp3/profile/device-profile.ts';
import {
  eventGroups,
  implementationTable,
  supportedFunctions,
} from '../../../src/dnp3/profile/implementation-table.ts';
import { defaultLimits } from '../../../src/dnp3/stack/outstation/types.ts';
import { PointRig } from '../rig/points.ts';
import { Stack, spec } from '../rig/stack.ts';

interface Entry {
  readonly objectGroup: number;
  readonly variation: number;
  readonly request?: { readonly functionCode: number; readonly qualifierCode: readonly string[] };
}
const entriesOf = (unsolicited: boolean) =>
  implementationTable({ unsolicited }).supportedVariation as unknown as readonly Entry[];

const kinds = ['binaryInput', 'binaryOutput', 'analogInput', 'analogOutput', 'counter', 'frozenCounter'] as const;
const stack = (unsolicited: boolean) => new Stack({ specs: kinds.map((kind) => spec(kind, 0)), unsolicited });
const octet = (value: number) => value.toString(16).padStart(2, '0');

/** Octets of range, prefix and value of one object. */
function rangeOf({ objectGroup, variation, request }: Entry, qualifier: string): string {
  const hasValues = request !== undefined && request.functionCode >= 2 && request.functionCode <= 6;
  const sizes: Readonly<Record<string, number>> = {
    '41.1': 5,
    '41.2': 3,
    '41.3': 5,
    '41.4': 9,
    '34.1': 2,
    '34.2': 4,
    '34.3': 4,
    '50.1': 6,
    '50.3': 6,
    '80.1': 1,
  };
  const zeros = '00 '.repeat(sizes[`${objectGroup}.${variation}`] ?? 0);
  const value = !hasValues ? '' : objectGroup === 12 ? '03 01 64 00 00 00 64 00 00 00 00' : zeros;
  // of g80 the indication of a restart alone can be written
  const index = objectGroup === 80 && hasValues ? '07' : '00';
  const ranges: Readonly<Record<string, string>> = {
    0: `${index} ${index}`,
    1: `${index} 00 ${index} 00`,
    6: '',
    7: '01',
    8: '01 00',
    17: `01 ${index}`,
    28: `01 00 ${index} 00`,
  };
  return `${ranges[qualifier]} ${value}`;
}

/** IIN2 of the answer to a request of an entry; null: there is none. */
function iin2Of(entry: Entry, qualifier: string, unsolicited: boolean): number | null {
  const { objectGroup, variation, request } = entry;
  const rig = stack(unsolicited);
  if (unsolicited) rig.ask('d0 00');
  // points are assigned to the class in front of them
  const before = request?.functionCode === 22 && objectGroup !== 60 ? '3c 02 06' : '';
  const header = `${octet(objectGroup)} ${octet(variation)} ${qualifier.padStart(2, '0')}`;
  const answers = rig.ask(`c1 ${octet(request?.functionCode ?? 0)} ${before} ${header} ${rangeOf(entry, qualifier)}`);
  const answer = answers.find((each) => each.slice(3, 5) === '81');
  return answer === undefined ? null : parseInt(answer.slice(9, 11), 16);
}

describe('the device profile document', () => {
  it('has the function codes that are not refused with IIN2.0, and no other', () => {
    for (const unsolicited of [false, true]) {
      const known = Array.from({ length: 128 }, (_, code) => code + 1).filter((code) => {
        const rig = stack(unsolicited);
        const answer = rig.ask(`c1 ${octet(code)}`).find((each) => each.slice(3, 5) === '81');
        return answer === undefined ? [6, 8, 10].includes(code) : (parseInt(answer.slice(9, 11), 16) & 1) === 0;
      });
      expect(supportedFunctions(unsolicited)).to.deep.equal([0, ...known]);
    }
    expect(supportedFunctions(false)).to.not.include.members([11]);
    expect([11, 12, 20, 21, 32, 33].filter((code) => supportedFunctions(false).includes(code))).to.deep.equal([]);
  });

  it('has objects and qualifiers that the outstation takes', () => {
    for (const unsolicited of [false, true])
      for (const entry of entriesOf(unsolicited))
        for (const qualifier of entry.request?.qualifierCode ?? []) {
          const iin2 = iin2Of(entry, qualifier, unsolicited);
          const { objectGroup, variation, request } = entry;
          // the second step of a procedure: RECORD_CURRENT_TIME comes first
          const expected = objectGroup === 50 && variation === 3 ? 4 : 0;
          const name = `g${objectGroup}v${variation}, function ${request?.functionCode}, qualifier ${qualifier}`;
          expect(iin2 ?? 0, name).to.equal(expected);
        }
  });

  it('has every group that is served, and room for the events of each', () => {
    const groups = new Set(entriesOf(false).map(({ objectGroup }) => objectGroup));
    expect([...groups].sort((a, b) => a - b)).to.deep.equal([
      0, 1, 2, 10, 12, 20, 21, 22, 23, 30, 32, 34, 40, 41, 50, 51, 52, 60, 80,
    ]);
    expect(eventGroups).to.deep.equal([2, 22, 23, 32]);
  });

  const facts: ProfileFacts = {
    vendor: 'v',
    product: 'p',
    softwareVersion: '1',
    date: '2026-01-01',
    host: '127.0.0.1',
    port: 1,
    address: 1,
    masterAddresses: [4],
    unsolicited: false,
    isTls: false,
    isKept: false,
    limits: defaultLimits,
    points: [],
  };

  it('has the greatest number of a curve', () => {
    const rig = new PointRig('PV-3Phase');
    const points = rig.points.views({ type: 'AO', from: 244, to: 244 }).map(({ min, max, name, index }) => ({
      type: 'AO' as const,
      index,
      name,
      class: 0 as const,
      min: min ?? 0,
      max: max ?? 0,
    }));
    const xml = deviceProfileXml({ ...facts, points });
    expect(xml).to.include('<maxTransmittedValue>100</maxTransmittedValue>');
    for (const group of eventGroups) expect(xml).to.include(`<group>${group}</group>`);
  });

  it('says whether events are kept over a restart', () => {
    const words = 'Events, classes, deadbands and frozen counters are kept over a restart';
    expect([false, true].map((isKept) => deviceProfileXml({ ...facts, isKept }).includes(words))).to.deep.equal([
      false,
      true,
    ]);
  });

  it('says how often the outstation needs the time, which is when it sets NEED_TIME', () => {
    const xml = deviceProfileXml(facts).replace(/>\s+</g, '><');
    const elementOf = (name: string) => new RegExp(`<${name}>.*?</${name}>`).exec(xml)?.[0] ?? '';
    const everyS = Number(/<periodically>(\d+)<\/periodically>/.exec(elementOf('timeSyncRequired'))?.[1]);
    expect(elementOf('timeSyncRequired')).to.equal(
      `<timeSyncRequired><capabilities><periodicallyFixed>${everyS}</periodicallyFixed></capabilities>` +
        `<currentValue><periodically>${everyS}</periodically></currentValue></timeSyncRequired>`,
    );
    const set = elementOf('outstationSetsIIN14');
    expect(set).to.include(`<atStartup/><afterLastTimeSyncSelectable>${everyS}</afterLastTimeSyncSelectable>`);
    expect(set).to.include(`<atStartup/><afterLastTimeSync>${everyS}</afterLastTimeSync>`);
    let monotonicMs = 0;
    const noClock = { offsetS: 0, sync: () => undefined } as unknown as RemoteClock;
    const clock = new MasterClock({ clock: noClock, monotonicMs: () => monotonicMs });
    expect(clock.needsTime).to.equal(true);
    clock.sync(0, 0);
    monotonicMs = everyS * 1000 - 1;
    expect(clock.needsTime).to.equal(false);
    monotonicMs += 1;
    expect(clock.needsTime).to.equal(true);
  });
});
