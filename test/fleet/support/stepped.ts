/** Shards whose ticks a barrier drives, with messages as they go over the wire, and faults that a test plans. */
import { FleetError } from '../../../src/fleet/link.ts';
import type { FleetFault } from '../../../src/fleet/link.ts';
import type { BarrierMember } from '../../../src/fleet/clock/barrier.ts';
import { clockMessage, readGo, readPrepare, readStanding } from '../../../src/fleet/clock/messages.ts';
import type { Standing } from '../../../src/fleet/clock/messages.ts';
import { SteppedTicks } from '../../../src/fleet/clock/stepped.ts';
import type { StepVerb } from '../../../src/fleet/clock/steps.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { claimRequest, claimsMessage, readClaimRequest, readClaims } from '../../../src/fleet/site/messages.ts';

interface PlannedFault {
  readonly verb: StepVerb;
  readonly code: FleetFault;
  /** true: the shard carries the message out, and its answer is lost */
  readonly isDone: boolean;
}

/** A shard as the leader reaches it. */
export class SteppedShard implements BarrierMember {
  readonly shard: string;
  readonly plant: SimPlant;
  readonly #ticks: SteppedTicks;
  #fault: PlannedFault | null = null;
  /** messages of this shard, as `verb step` */
  readonly taken: string[] = [];

  constructor(shard: string, plant: SimPlant) {
    this.shard = shard;
    this.plant = plant;
    this.#ticks = new SteppedTicks({ plant, sent: () => Promise.resolve() });
  }

  /** The next message of this verb fails. */
  fail(verb: StepVerb, code: FleetFault, isDone = false): void {
    this.#fault = { verb, code, isDone };
  }

  prepare(message: Parameters<BarrierMember['prepare']>[0]): Promise<Standing> {
    return this.#send('prepare', message.step, () => this.#ticks.prepare(readPrepare(clockMessage(message))));
  }

  claim(endUs: Parameters<BarrierMember['claim']>[0]): ReturnType<BarrierMember['claim']> {
    const asked = readClaimRequest(claimRequest(endUs));
    return Promise.resolve(readClaims(claimsMessage(this.plant.fleetPart.claims(asked.endUs))));
  }

  go(message: Parameters<BarrierMember['go']>[0]): Promise<Standing> {
    return this.#send('go', message.step, () => this.#ticks.go(readGo(clockMessage(message))));
  }

  async #send(verb: StepVerb, step: number, work: () => Promise<Standing>): Promise<Standing> {
    this.taken.push(`${verb} ${step}`);
    const fault = this.#fault?.verb === verb ? this.#fault : null;
    if (fault !== null) this.#fault = null;
    if (fault === null || fault.isDone) {
      const standing = readStanding(clockMessage(await work()));
      if (fault === null) return standing;
    }
    throw new FleetError(fault.code, `planned: ${fault.code}`);
  }
}

export const steppedShards = (plants: readonly SimPlant[]): readonly SteppedShard[] =>
  plants.map((plant, at) => new SteppedShard(String.fromCharCode(97 + at), plant));
