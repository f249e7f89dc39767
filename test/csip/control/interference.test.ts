import fc from 'fast-check';
import { expect } from 'chai';
import type { DeviceCommand } from '../../../src/contract/device.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { ControlInForce, ModeName } from '../../../src/csip/control/model.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { control, differences, event, stateOf, target } from '../../support/csip-controls.ts';
import type { ControlState } from '../../support/csip-controls.ts';
import { baseOf, curves, values } from '../../support/csip-mode-values.ts';
import { holdsAsync } from '../../support/property.ts';

const rest = { source: 'rest' } as const;

/** What others do to a device meanwhile. */
type Foreign =
  | { readonly kind: 'write'; readonly values: Readonly<Record<string, AnyPointValue>> }
  | { readonly kind: 'command'; readonly command: DeviceCommand }
  | { readonly kind: 'reboot'; readonly forget: boolean }
  | { readonly kind: 'ticks'; readonly count: number };

interface Wanted {
  readonly id: string;
  readonly modes: readonly ModeName[];
  readonly rampTms: number | undefined;
}

type Act = Foreign | { readonly kind: 'controls'; readonly wanted: readonly Wanted[] };

const writes: readonly Readonly<Record<string, AnyPointValue>>[] = [
  // with its enable: whether a limit alone stays would depend on a timer of the master that a control has stopped
  { '704.WMaxLimPct': 71, '704.WMaxLimPctEna': 'ENABLED' },
  { '704.WMaxLimPctEna': 'ENABLED' },
  { '704.WSetMod': 'WATTS', '704.WSet': 1234, '704.WSetEna': 'ENABLED' },
  { '704.WSetEna': 'DISABLED' },
  { '704.VarSetEna': 'ENABLED' },
  { '704.PFWInj.PF': 0.93, '704.PFWInjEna': 'ENABLED' },
  { '705.Ena': 'ENABLED' },
  { '705.Ena': 'DISABLED' },
  { '705.Crv[0].Pt[0].V': 90.5 },
  { '706.Ena': 'ENABLED' },
  { '711.Ctl[0].DbOf': 0.044 },
  { '703.ES': 'DISABLED' },
  { '703.ES': 'ENABLED' },
  { '704.WRmp': 33 },
  { '702.WMax': 8000 },
  { '704.WMaxLimPctRvrtTms': 3, '704.WMaxLimPct': 66, '704.WMaxLimPctEna': 'ENABLED' },
  { '704.WSetRvrtTms': 4 },
];

const commands: readonly DeviceCommand[] = [
  { kind: 'switch', closed: true },
  { kind: 'switch', closed: false },
  { kind: 'gradient', wPctPerS: 3.21 },
  { kind: 'gradient', varPctPerS: null },
  { kind: 'local', local: true },
  { kind: 'local', local: false },
  { kind: 'reset', scope: 'alarms' },
  { kind: 'reset', scope: 'device' },
  { kind: 'start' },
];

const anyForeign: fc.Arbitrary<Foreign> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...writes).map((of): Foreign => ({ kind: 'write', values: of })) },
  { weight: 4, arbitrary: fc.constantFrom(...commands).map((command): Foreign => ({ kind: 'command', command })) },
  { weight: 1, arbitrary: fc.boolean().map((forget): Foreign => ({ kind: 'reboot', forget })) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 6 }).map((count): Foreign => ({ kind: 'ticks', count })) },
);
const anyMode = fc.constantFrom(...(Object.keys(values) as ModeName[]));
const anyControls = fc
  .uniqueArray(
    fc.record({
      id: fc.constantFrom('A', 'B', 'C'),
      modes: fc.uniqueArray(anyMode, { minLength: 1, maxLength: 6 }),
      rampTms: fc.option(fc.integer({ min: 1, max: 2000 }), { nil: undefined }),
    }),
    { selector: ({ id }) => id, maxLength: 3 },
  )
  .map((wanted): Act => ({ kind: 'controls', wanted }));

/** What the scheduler would hand over: each mode belongs to one control, and a control keeps its modes. */
function composed(wanted: readonly Wanted[]): readonly ControlInForce[] {
  const taken = new Set<ModeName>();
  return wanted.flatMap(({ id, modes, rampTms }) => {
    const own = modes.filter((mode) => !taken.has(mode));
    for (const mode of own) taken.add(mode);
    return own.length > 0 ? [event(`${id} ${own.join()}`, control(baseOf(own, rampTms), curves), own)] : [];
  });
}

/** A refusal by the device leaves it as it is. */
function attempt(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
  }
}

async function play(rig: FaultyRig, act: Foreign): Promise<void> {
  const { plant } = rig;
  const { bank } = rig.device;
  if (act.kind === 'ticks') await plant.step(act.count);
  else if (act.kind === 'reboot') {
    // a reboot ends timers of a master, and the end of a control starts the one anew that it has stopped
    await plant.step(5);
    attempt(() => void rig.inject(rebootFault, { off_s: 4, forget: act.forget }));
  } else if (act.kind === 'command') attempt(() => rig.device.command(act.command, rest));
  else
    attempt(() => {
      bank.assign(
        rest,
        Object.entries(act.values).map(([name, value]) => {
          const dot = name.indexOf('.');
          const slot = bank.layout.slot(Number(name.slice(0, dot)), name.slice(dot + 1));
          if (!slot) throw new Error(`no point ${name}`);
          return { slot, value };
        }),
      );
    });
}

/** Values without their writers. */
function settingsOf({ plant }: FaultyRig): ControlState {
  const { points, others } = stateOf(plant);
  return { points: Object.fromEntries(Object.entries(points).map(([name, [value]]) => [name, [value]])), others };
}

describe('DERControls between other writers', () => {
  for (const type of ['Batt-3Phase', 'HybridDC-3Phase', 'PV-3Phase']) {
    it(`${type}: what is left after them is what the others have set`, async () => {
      await holdsAsync(
        `${type}: others' settings stay`,
        fc.array(fc.oneof({ weight: 2, arbitrary: anyForeign }, { weight: 1, arbitrary: anyControls }), {
          minLength: 3,
          maxLength: 14,
        }),
        async (acts) => {
          const [rig, twin] = [0, 1].map(() => new FaultyRig({ tickIntervalS: 1, types: [type] }));
          if (!rig || !twin) return;
          const bridge = target(rig.plant);
          let inForce: readonly ControlInForce[] = [];
          const resets: boolean[] = [];
          bridge.onChange((reset) => resets.push(reset));
          for (const act of acts) {
            if (act.kind === 'controls') inForce = composed(act.wanted);
            else {
              await play(rig, act);
              await play(twin, act);
            }
            // as the schedule does: controls under way are not applied again
            if (resets.splice(0).includes(true)) inForce = [];
            bridge.apply(inForce);
          }
          bridge.close();
          for (const each of [rig, twin]) await each.plant.step(10);
          expect(differences(settingsOf(twin), settingsOf(rig))).to.deep.equal({});
        },
        { runs: 40 },
      );
    }).timeout(120_000);
  }
});
