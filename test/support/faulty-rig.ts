/** A plant whose devices execute faults, stepped by the test. */
import type { ActiveFault } from '../../src/core/faults/active-fault.ts';
import type { FaultKind } from '../../src/core/faults/kinds.ts';
import type { FaultRegistry } from '../../src/core/faults/registry.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { createFaultRegistry, followPlant } from '../../src/app/faults.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';
import type { FaultExtras } from './faults.ts';
import { named } from './map.ts';
import type { TestPlantOptions } from './plant.ts';
import { byTest, Rig } from './rig.ts';
import { HandWall } from './wall.ts';

export class FaultyRig extends Rig {
  readonly faults: FaultRegistry;

  constructor(options: TestPlantOptions = {}) {
    const made: { plant?: SimPlant; registry?: FaultRegistry } = {};
    super({
      ...options,
      faults: (clock) => {
        made.registry = createFaultRegistry({
          wall: options.wall ?? new HandWall(),
          sim: () => clock.sim(),
          seed: options.seed ?? 1,
          log: silentLogger,
          plant: () => made.plant!,
          later: () => () => undefined,
        });
        return made.registry;
      },
    });
    made.plant = this.plant;
    this.faults = made.registry!;
    followPlant(this.faults, this.plant);
  }

  /** In bright sun: the source gives more than the rating, and has settled. */
  static override async sunny(options: TestPlantOptions = {}): Promise<FaultyRig> {
    const rig = new FaultyRig(options);
    rig.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rig.run(30);
    return rig;
  }

  /** Injects one fault, for every device unless a device is given. */
  inject(kind: FaultKind, parameters: Readonly<Record<string, unknown>> = {}, extras: FaultExtras = {}): ActiveFault {
    const [fault] = this.faults.inject([{ protocol: kind.protocol, kind: kind.kind, parameters, ...extras }], byTest);
    return fault!;
  }

  /** Writes points of the first device by name, in one write. */
  write(values: Readonly<Record<string, AnyPointValue>>): void {
    const { bank } = this.device;
    bank.assign(
      byTest,
      Object.entries(values).map(([name, value]) => ({ slot: named(bank.layout, name), value })),
    );
  }

  /** Decoded value of a point of the first device. */
  value(name: string): AnyPointValue {
    return this.device.bank.value(named(this.device.bank.layout, name));
  }
}
