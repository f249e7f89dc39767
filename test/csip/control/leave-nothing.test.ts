import { expect } from 'chai';
import fc from 'fast-check';
import type { ControlInForce, ModeName } from '../../../src/csip/control/model.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { holdsAsync } from '../../support/property.ts';
import { Rest } from '../../support/rest.ts';
import { testPlant } from '../../support/plant.ts';
import { apply, control, differences, event, standard, stateOf, target } from '../../support/csip-controls.ts';
import type { ControlState } from '../../support/csip-controls.ts';
import { baseOf, curves, values } from '../../support/csip-mode-values.ts';

const settings = {
  setESDelay: 1000,
  setESHighFreq: 6030,
  setESLowVolt: 9000,
  setESHighVolt: 10_600,
  setESRandomDelay: 500,
  setGradW: 27,
  setSoftGradW: 50,
};

interface Step {
  readonly events: readonly {
    readonly id: string;
    readonly modes: readonly ModeName[];
    readonly rampTms: number | undefined;
  }[];
  readonly standard: readonly ModeName[] | undefined;
  readonly ticks: number;
}

const types = ['PV-3Phase', 'Batt-3Phase', 'HybridDC-3Phase', 'Fuelcell-3Phase', 'Wind-T4-3Phase', 'EVSE'];

const eventOf = (id: string, modes: readonly ModeName[], rampTms?: number) =>
  event(id, control(baseOf(modes, rampTms), curves), modes);
const defaultOf = (modes: readonly ModeName[]) => {
  const of = control(baseOf(modes), curves);
  return standard({ ...of, settings }, modes);
};

/**
 * What depends on the present controls: not the limits on their way, which depend on the power from which they have
 * started, nor the writer of a timer that two controls stop, which is the one that began last.
 */
function presentState(plant: SimPlant): ControlState {
  const { points, others } = stateOf(plant);
  const withoutWriter = Object.entries(points).map(([name, [value, writer]]) => [
    name,
    name.endsWith('RvrtTms') ? [value] : [value, writer],
  ]);
  return { points: Object.fromEntries(withoutWriter) as ControlState['points'], others: { ...others, limits: null } };
}

function plantOf(type: string): SimPlant {
  return testPlant({ types: [type] });
}

describe('DERControls leave nothing behind', () => {
  for (const [at, type] of types.entries()) {
    it(`${type}: each mode alone, and after a default control`, async () => {
      const plant = plantOf(type);
      await plant.step(2);
      const bridge = target(plant);
      const before = stateOf(plant);
      const modes = [...bridge.supported];
      // the first two disconnect: the winner among functions of reactive power depends on the power at which they meet
      const some = [...modes.slice(0, 2), ...dealt(modes.slice(2), 3, at)];
      for (const mode of pick({ quick: some, ci: modes })) {
        const [outcome] = apply(bridge, eventOf(`E ${mode}`, [mode], 500));
        // EVSE that only charge take no positive set-point, devices that only feed none below zero
        if (outcome?.state !== 'invalid') expect(outcome, mode).to.deep.include({ state: 'applied', leftOut: [] });
        if (outcome?.state === 'applied') expect(differences(before, stateOf(plant)), mode).to.not.deep.equal({});
        apply(bridge);
        expect(differences(before, stateOf(plant)), mode).to.deep.equal({});
        const all = defaultOf([...bridge.supported].filter((each) => each !== 'opModConnect'));
        apply(bridge, all);
        const underDefault = presentState(plant);
        apply(bridge, eventOf(`F ${mode}`, [mode], 500), { ...all, modes: all.modes.filter((each) => each !== mode) });
        await plant.step(1);
        apply(bridge, all);
        expect(differences(underDefault, presentState(plant)), `${mode} back to default`).to.deep.equal({});
        apply(bridge);
        expect(differences(before, stateOf(plant)), `${mode} after default`).to.deep.equal({});
      }
    }).timeout(60_000);
  }

  it('as registers/changes shows', async () => {
    const rest = await Rest.open(plantOf('Batt-3Phase'));
    try {
      const before = await rest.get('/registers/changes');
      const bridge = target(rest.plant);
      const [outcome] = apply(
        bridge,
        eventOf('E1', [...bridge.supported]),
        defaultOf(['opModVoltVar', 'opModMaxLimW']),
      );
      expect(outcome?.state).to.equal('applied');
      expect(await rest.get('/registers/changes')).to.not.deep.equal(before);
      apply(bridge);
      expect(await rest.get('/registers/changes')).to.deep.equal(before);
    } finally {
      await rest.api.stop();
    }
  });

  const anyMode = fc.constantFrom(...(Object.keys(values) as ModeName[]));
  const anyControl = fc.record({
    id: fc.constantFrom('A', 'B', 'C', 'D'),
    modes: fc.uniqueArray(anyMode, { minLength: 1, maxLength: 6 }),
    rampTms: fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: undefined }),
  });
  const anyStep = fc.record({
    events: fc.uniqueArray(anyControl, { selector: ({ id }) => id, maxLength: 4 }),
    standard: fc.option(fc.uniqueArray(anyMode, { maxLength: 8 }), { nil: undefined }),
    ticks: fc.integer({ min: 0, max: 2 }),
  });

  /** What the scheduler would hand over: each mode belongs to one control. */
  function composed({ events, standard: modes }: Step, turn: number): ControlInForce[] {
    const taken = new Set<ModeName>();
    const own = (all: readonly ModeName[]) => {
      const left = all.filter((mode) => !taken.has(mode));
      for (const mode of left) taken.add(mode);
      return left;
    };
    const inForce = events.flatMap(({ id, modes: all, rampTms }) => {
      const left = own(all);
      return left.length > 0 ? [eventOf(`${id}${turn % 2}`, left, rampTms)] : [];
    });
    return modes ? [...inForce, defaultOf(own(modes))] : inForce;
  }

  for (const type of ['Batt-3Phase', 'HybridDC-3Phase', 'PV-3Phase']) {
    it(`${type}: whatever controls come and go, in any order`, async () => {
      await holdsAsync(
        `${type}: controls come and go`,
        fc.array(anyStep, { minLength: 1, maxLength: 6 }),
        async (steps) => {
          const plant = plantOf(type);
          await plant.step(1);
          const before = stateOf(plant);
          const bridge = target(plant);
          for (const [turn, step] of steps.entries()) {
            const inForce = composed(step, turn);
            bridge.apply(inForce);
            if (step.ticks > 0) await plant.step(step.ticks);
            bridge.apply(inForce);
          }
          bridge.apply([]);
          expect(differences(before, stateOf(plant))).to.deep.equal({});
        },
        { runs: 40 },
      );
    }).timeout(120_000);

    it(`${type}: what is in force depends on the controls alone, not on those before them`, async () => {
      await holdsAsync(
        `${type}: no memory of controls`,
        fc.array(anyStep, { minLength: 2, maxLength: 5 }),
        async (steps) => {
          const [plant, fresh] = [plantOf(type), plantOf(type)];
          await Promise.all([plant.step(1), fresh.step(1)]);
          const [bridge, other] = [target(plant), target(fresh)];
          let last: readonly ControlInForce[] = [];
          let outcomes = bridge.apply(last);
          for (const [turn, step] of steps.entries()) {
            last = composed(step, turn);
            outcomes = bridge.apply(last);
          }
          expect(other.apply(last)).to.deep.equal(outcomes);
          expect(differences(presentState(fresh), presentState(plant))).to.deep.equal({});
        },
        { runs: 40 },
      );
    }).timeout(120_000);
  }
});
