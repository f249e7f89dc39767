/** Which function of reactive power acts when two controls of different rank ask for one each. */
import { expect } from 'chai';
import type { ControlInForce, ModeName } from '../../../src/csip/control/model.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { apply, control, differences, points, standard, stateOf, target } from '../../support/csip-controls.ts';
import { baseOf, curves } from '../../support/csip-mode-values.ts';
import { testPlant } from '../../support/plant.ts';

const enableOf: Partial<Record<ModeName, string>> = {
  opModFixedPFInjectW: '704.PFWInjEna',
  opModFixedPFAbsorbW: '704.PFWAbsEna',
  opModFixedVar: '704.VarSetEna',
  opModTargetVar: '704.VarSetEna',
  opModVoltVar: '705.Ena',
  opModWattVar: '712.Ena',
};
const reactiveModes = Object.keys(enableOf) as ModeName[];
const enables = [...new Set(Object.values(enableOf))];

interface Standing {
  readonly origin: 'event' | 'default';
  readonly primacy: number;
  readonly creationS: number;
}

const standings: readonly Standing[] = [
  { origin: 'event', primacy: 1, creationS: 20 },
  { origin: 'event', primacy: 1, creationS: 10 },
  { origin: 'event', primacy: 5, creationS: 30 },
  { origin: 'default', primacy: 1, creationS: 0 },
  { origin: 'default', primacy: 5, creationS: 0 },
];

/** 2030.5-2018 10.2.3: defaults act where no event does, then the lower primacy wins, then the later creation. */
function isBefore(a: Standing, b: Standing): boolean {
  if (a.origin !== b.origin) return a.origin === 'event';
  return a.primacy === b.primacy ? a.creationS > b.creationS : a.primacy < b.primacy;
}

function controlOf(id: string, mode: ModeName, { origin, primacy, creationS }: Standing): ControlInForce {
  const rank = origin === 'event' ? `event ${primacy} ${creationS}` : `default ${primacy}`;
  return { id, origin, rank, modes: [mode], control: control(baseOf([mode]), curves) };
}

const isFactor = (mode: ModeName) => mode.startsWith('opModFixedPF');

describe('DERControls of different rank with functions of reactive power', () => {
  let plant: SimPlant;
  before(async () => {
    plant = testPlant({ types: ['Batt-3Phase'] });
    await plant.step(2);
  });

  for (const higher of standings)
    for (const lower of standings.filter((each) => isBefore(higher, each))) {
      const [high, low] = [higher, lower].map(({ origin, primacy, creationS }) => `${origin} ${primacy} ${creationS}`);
      it(`${high} beats ${low}, in every pair of modes and either order of arrival`, () => {
        for (const mode of reactiveModes)
          for (const other of reactiveModes.filter((each) => each !== mode)) {
            const start = stateOf(plant);
            const bridge = target(plant);
            const [first, second] = [controlOf('HIGH', mode, higher), controlOf('LOW', other, lower)];
            // the control of lower rank may have been in force before
            apply(bridge, second);
            const [outcome, beaten] = apply(bridge, first, second);
            const sideBySide = isFactor(mode) && isFactor(other);
            const on = new Set([enableOf[mode], ...(sideBySide ? [enableOf[other]] : [])]);
            const where = `${mode} against ${other}`;
            expect(points(plant.device(0), ...enables), where).to.deep.equal(
              enables.map((enable) => (on.has(enable) ? 'ENABLED' : 'DISABLED')),
            );
            expect(outcome, where).to.deep.include({ state: 'applied', leftOut: [] });
            const reasons = beaten?.leftOut.map((each) => `${each.mode} ${each.reason}: ${each.detail}`);
            expect(reasons, where).to.deep.equal(
              sideBySide ? [] : [`${other} outweighed: ${mode} of HIGH takes precedence`],
            );
            bridge.close();
            expect(differences(start, stateOf(plant)), where).to.deep.equal({});
          }
      });
    }

  it('limits of absorption: an event beats a default control, those of one rank share the tightest (2023)', async () => {
    const own = testPlant({ types: ['Batt-3Phase'] });
    await own.step(2);
    const bridge = target(own, 0, '2023');
    const limit = (id: string, rank: string, base: Parameters<typeof control>[0]): ControlInForce => ({
      ...standard(control(base)),
      id,
      rank,
    });
    const watts = limit('E', 'event 1 0', { opModMaxLimWAbsorb: { multiplier: 3, value: 5 } });
    const pct = (rank: string) => limit('D', rank, { opModMaxLimPctWAbsorb: 1000 });
    const loadW = () => own.siteOf([0]).limits.load.limitW;
    const [event, beaten] = apply(bridge, watts, pct('default 1'));
    expect([event?.leftOut, loadW()]).to.deep.equal([[], 5000]);
    expect(beaten?.leftOut).to.deep.equal([
      { mode: 'opModMaxLimPctWAbsorb', reason: 'outweighed', detail: 'opModMaxLimWAbsorb of E takes precedence' },
    ]);
    apply(bridge, watts, pct('event 1 0'));
    expect(loadW()).to.be.below(5000);
    apply(bridge, pct('default 1'));
    const defaultW = loadW();
    expect(defaultW).to.be.below(5000);
    // a mode that is left out outweighs nothing
    const foreign = { reason: 'namespace', detail: 'x' } as const;
    const unread = limit('E', 'event 1 0', { opModConnect: true, unread: { opModMaxLimWAbsorb: foreign } });
    const [, byDefault] = apply(bridge, { ...unread, modes: ['opModConnect', 'opModMaxLimWAbsorb'] }, pct('default 1'));
    expect([byDefault?.leftOut, loadW()]).to.deep.equal([[], defaultW]);
    bridge.close();
  });
});
