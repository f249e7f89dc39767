import { expect } from 'chai';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { Terminals } from '../../../src/der/device/terminals.ts';
import type { DcSource, SourceInput } from '../../../src/der/source/source.ts';
import type { Environment } from '../../../src/der/surroundings/environment.ts';
import { codeOf } from '../../support/map.ts';

const at = simTimeFromMs(0);
const grid = { aPu: 1, bPu: 0.9, cPu: 0.8, hz: 60, angleDeg: 0, island: false };

function terminals(ambientC: number): Terminals {
  const environment = {
    weatherAt: (_: number, __: unknown, out: SourceInput) => (out.ambientTemperatureC = ambientC),
    loadW: () => 700,
  } as unknown as Environment;
  return new Terminals(0, { environment, feeder: null, rate: () => 5 }, { wiring: 'three', vaMaxVa: 1000, vNomV: 480 });
}

/** A source that is brought to the end of a sub-step by `act`. */
const sourceOf = (act: (dtS: number, input: SourceInput) => void) => ({ prepare: act }) as unknown as DcSource;

describe('terminals: surroundings of a source', () => {
  it('are those of the device at the end of the sub-step', () => {
    const seen: unknown[] = [];
    const source = sourceOf((dtS, input) => seen.push(dtS, { ...input }));
    expect(terminals(31).prepare(source, 0.5, at, grid, true)).to.equal(31);
    expect(seen[0]).to.equal(0.5);
    expect(seen[1]).to.include({ ambientTemperatureC: 31, loadW: 700, frequencySupport: true, rate: 5 });
    expect((seen[1] as SourceInput).terminalPu).to.be.closeTo(0.9, 1e-12);
  });

  it('are shared, so that one device inside another is an error and not a wrong value', () => {
    const [outer, inner] = [terminals(20), terminals(40)];
    const nested = sourceOf(() => {
      inner.prepare(
        sourceOf(() => undefined),
        1,
        at,
        grid,
        false,
      );
    });
    expect(
      codeOf(() => {
        outer.prepare(nested, 1, at, grid, false);
      }),
    ).to.equal('INTERNAL');
    // and free again
    expect(
      inner.prepare(
        sourceOf(() => undefined),
        1,
        at,
        grid,
        false,
      ),
    ).to.equal(40);
  });
});
