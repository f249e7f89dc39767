import { expect } from 'chai';
import fc from 'fast-check';
import { differences, stateOf } from '../../../support/csip-controls.ts';
import { holdsAsync } from '../../../support/property.ts';
import { Rest } from '../../../support/rest.ts';
import { loadedRig, request, settingTypes, testedTypes } from './rig.ts';
import type { DerRig, TestedType } from './rig.ts';

type Step =
  | {
      readonly kind: 'set';
      readonly id: string;
      readonly type: TestedType;
      readonly isDefault: boolean;
      readonly priority: number;
      readonly startS: number | null;
      readonly duration: number | null;
    }
  | { readonly kind: 'clear'; readonly isDefault: boolean; readonly controlId: string | null }
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'local' }
  | { readonly kind: 'other'; readonly touch: number };

const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const anyId = fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F');

/** Writes of a master, which a device without controls takes just so. */
const touches: readonly ((rig: Pick<DerRig, 'kind' | 'device'>) => void)[] = [
  ({ kind }) => {
    kind.write(({ m704 }) => (m704.WMaxLimPct = 77));
  },
  ({ kind }) => {
    kind.write(({ m704 }) => (m704.VarSetPct = 11));
  },
  ({ kind }) => {
    kind.write(({ m704 }) => (m704.VarSetEna = 'DISABLED'));
  },
  ({ kind }) => {
    kind.write(({ m703 }) => Object.assign(m703, { ESDlyTms: 99, ESRmpTms: 44 }));
  },
  ({ kind }) => {
    kind.write(({ m705 }) => (m705.Ena = 'DISABLED'));
  },
  ({ kind }) => {
    kind.write(({ m708 }) => (m708.Ena = 'ENABLED'));
  },
  ({ device }) => {
    device.command({ kind: 'gradient', wPctPerS: 3 }, { source: 'rest', peer: 'test' });
  },
];

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      id: anyId,
      type: fc.constantFrom(...testedTypes),
      isDefault: fc.boolean(),
      priority: fc.integer({ min: 0, max: 4 }),
      startS: orNull(fc.integer({ min: 0, max: 8 })),
      duration: orNull(fc.integer({ min: 1, max: 12 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('clear' as const), isDefault: fc.boolean(), controlId: orNull(anyId) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('local' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('other' as const), touch: fc.nat({ max: touches.length - 1 }) }),
  },
);

function setLocal(rig: DerRig, local: boolean): void {
  rig.device.command({ kind: 'local', local }, { source: 'rest', peer: 'test' });
}

/** @param twin takes what others write, and no controls */
async function carryOut(rig: DerRig, twin: DerRig, step: Step): Promise<void> {
  switch (step.kind) {
    case 'set': {
      const isDefault = step.isDefault || settingTypes.includes(step.type);
      const times = isDefault
        ? {}
        : {
            ...(step.startS !== null && { startTime: rig.at(rig.nowS() + step.startS) }),
            ...(step.duration !== null && { duration: step.duration }),
          };
      const reply = await rig.set(request(step.id, step.type, { isDefault, priority: step.priority, ...times }));
      expect(reply.status, step.type).to.equal('Accepted');
      return;
    }
    case 'clear': {
      const { isDefault, controlId } = step;
      await rig.call('ClearDERControl', { isDefault, ...(controlId !== null && { controlId }) });
      return;
    }
    case 'pass':
      await rig.pass(step.seconds);
      return;
    case 'local':
      setLocal(rig, !rig.device.localControl);
      return;
    case 'other':
      if (rig.device.localControl) return;
      for (const each of [rig, twin]) touches[step.touch]?.(each);
  }
}

async function clearAll(rig: DerRig): Promise<void> {
  for (const isDefault of [true, false]) await rig.call('ClearDERControl', { isDefault });
}

describe('OCPP 2.1: DER controls leave nothing behind', () => {
  it('whatever controls and other writers come and go, in any order', async () => {
    await holdsAsync(
      'controls and other writers come and go',
      fc.array(anyStep, { minLength: 2, maxLength: 14 }),
      async (steps) => {
        const [rig, twin] = [await loadedRig(), await loadedRig()];
        for (const step of steps) await carryOut(rig, twin, step);
        setLocal(rig, false);
        await rig.pass(2);
        await clearAll(rig);
        expect(rig.part.entries()).to.deep.equal([]);
        expect(differences(stateOf(twin.plant), stateOf(rig.plant))).to.deep.equal({});
        for (const each of [rig, twin]) each.end();
      },
      { runs: 140 },
    );
  }).timeout(180_000);

  it('what is in force depends on the controls alone, not on those before them', async () => {
    const sets = fc.array(
      anyStep.filter((step) => step.kind === 'set'),
      { minLength: 1, maxLength: 8 },
    );
    await holdsAsync(
      'no memory of controls',
      [sets, sets],
      async (before, steps) => {
        const [rig, fresh] = [await loadedRig(), await loadedRig()];
        for (const step of before) await carryOut(rig, fresh, step);
        await clearAll(rig);
        for (const step of steps) for (const each of [rig, fresh]) await carryOut(each, each, step);
        expect(differences(stateOf(fresh.plant), stateOf(rig.plant))).to.deep.equal({});
        for (const each of [rig, fresh]) each.end();
      },
      { runs: 60 },
    );
  }).timeout(120_000);

  it('as registers/changes shows', async () => {
    const rig = await loadedRig();
    const rest = await Rest.open(rig.plant);
    try {
      const before = await rest.get('/registers/changes');
      for (const type of testedTypes)
        await rig.set(request(type, type, settingTypes.includes(type) ? {} : { duration: 30 }));
      expect(await rest.get('/registers/changes')).to.not.deep.equal(before);
      await rig.pass(40, 10);
      await clearAll(rig);
      expect(await rest.get('/registers/changes')).to.deep.equal(before);
    } finally {
      await rest.api.stop();
    }
  });
});
